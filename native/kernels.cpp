// Compiled once per instruction set; CAROUSEVAL_ISA names the namespace. Everything else here has internal linkage, so
// no function built for one set can stand in for another's.
#include "kernels.h"

#include <cmath>

#include "candidate_ideal.h"
#include "chain.h"
#include "correlation.h"
#include "draws.h"
#include "ideal.h"
#include "lanes.h"
#include "layout.h"
#include "page.h"
#include "signs.h"

namespace {

template <Gain gain, class T>
int64_t first_bad(const T* relevance, int64_t begin, int64_t end) {
  for (int64_t c = begin; c < end; ++c) {
    const double x = double(relevance[c]);
    if (x < 0 || x >= (gain == Gain::kExp2 ? 1024.0 : kInfinity)) return c;
  }
  return -1;
}

// The weights of a page's own cells in its order, padded with zeros.
struct PageWeights : Buffer<double> {
  template <class T>
  explicit PageWeights(const Pages<T>& pages) : Buffer(padded(pages.rows * pages.cols)) {
    for (int c = 0; c < pages.rows * pages.cols; ++c)
      (*this)[c] = pages.weights[pages.as_list ? c : c / pages.cols * pages.grid_cols + c % pages.cols];
  }
};

// 2DCG alone: one pass over memory.
template <Gain gain, class T>
int64_t score_only(const Pages<T>& pages, Pieces& pieces, double* dcg) {
  const int cells = pages.rows * pages.cols;
  const PageWeights weight(pages);
  bool fractions = false;
  for (int64_t p, end; pieces.next(p, end);)
  for (; p < end; ++p) {
    Lanes total;
    const bool good = each_gain<gain>(
        pages.relevance + p * cells, cells, (pages.count - p) * cells, fractions, [&] { total = fill(0.0); },
        [&](int c, Lanes g, Mask) CAROUSEVAL_INLINE_LAMBDA { total = total + g * load(weight.at(c)); });
    if (!good) return first_bad<gain>(pages.relevance, p * cells, (p + 1) * cells);
    dcg[p] = sum(total);
  }
  return -1;
}

// Moves the items of a page to the front, as one list.
void close_ranks(const Page& page, Buffer<double>& list) {
  int next = 0;
  page.held.each(0, page.cells, [&](int c) { list[next++] = page.gain[c]; });
  while (next < list.size()) list[next++] = 0.0;
}

template <Gain gain, class T, class BestOf>
int64_t score_with(const Pages<T>& pages, Pieces& pieces, double* dcg, double* best, BestOf best_of) {
  Page page(pages.rows, pages.cols);
  const PageWeights weight(pages);
  Buffer<double> list(padded(page.cells));
  for (int64_t p, end; pieces.next(p, end);)
  for (; p < end; ++p) {
    if (!read_page<gain>(pages.relevance + p * page.cells, (pages.count - p) * page.cells, page))
      return first_bad<gain>(pages.relevance, p * page.cells, (p + 1) * page.cells);
    const double* gains = page.gain.at(0);
    if (pages.as_list && !page.full) {
      close_ranks(page, list);
      gains = list.at(0);
    }
    dcg[p] = dot(gains, weight.at(0), page.cells);
    if (best) best[p] = best_of(page);
  }
  return -1;
}

template <Gain gain, class T>
int64_t score_gain(const Pages<T>& pages, Pieces& pieces, double* dcg, double* best) {
  if (pages.ideal == Ideal::kCategory) {
    CategoryIdeal ideal(pages.weights, pages.grid_rows, pages.grid_cols, pages.rows, pages.cols);
    return score_with<gain>(pages, pieces, dcg, best, [&](const Page& page) { return ideal.of_page(page); });
  }
  if (pages.ideal == Ideal::kUnconstrained) {
    UnconstrainedIdeal ideal(pages.weights, pages.grid_rows * pages.grid_cols, pages.rows * pages.cols);
    return score_with<gain>(pages, pieces, dcg, best, [&](const Page& page) { return ideal.of_page(page); });
  }
  if (pages.as_list)
    return score_with<gain>(pages, pieces, dcg, nullptr, [](const Page&) { return 0.0; });
  return score_only<gain>(pages, pieces, dcg);
}

template <class T>
int64_t score(const Pages<T>& pages, Pieces& pieces, double* dcg, double* best) {
  return pages.gain == Gain::kExp2 ? score_gain<Gain::kExp2>(pages, pieces, dcg, best)
                                   : score_gain<Gain::kLinear>(pages, pieces, dcg, best);
}

// Gains cell by cell; empty cells stay NaN.
int64_t gains(const double* relevance, Gain gain, Pieces& pieces, double* out) {
  constexpr int block = 1024;
  bool fractions = false;
  for (int64_t at, end; pieces.next(at, end);)
  for (; at < end; at += block) {
    const int count = int(end - at < block ? end - at : block);
    const auto keep = [&](int c, Lanes g, Mask held) {
      g = select(held, g, fill(kNaN));
      for (int l = 0; l < kLanes && c + l < count; ++l) out[at + c + l] = g[l];
    };
    const bool good = gain == Gain::kExp2 ? each_gain<Gain::kExp2>(relevance + at, count, end - at, fractions, [] {}, keep)
                                          : each_gain<Gain::kLinear>(relevance + at, count, end - at, fractions, [] {}, keep);
    if (!good)
      return gain == Gain::kExp2 ? first_bad<Gain::kExp2>(relevance, at, at + count)
                                 : first_bad<Gain::kLinear>(relevance, at, at + count);
  }
  return -1;
}

void category_ideal(const Categories& all, Pieces& pieces, double* best) {
  CategoryIdeal ideal(all.weights, all.grid_rows, all.grid_cols, all.categories, all.items);
  for (int64_t p, end; pieces.next(p, end);)
  for (; p < end; ++p)
    best[p] = ideal.of_categories(all.gains + p * all.categories * all.items, all.slots + p * all.categories,
                                  all.categories, all.items);
}

void candidate_ideals(const CandidateSets& all, Pieces& pieces, const CandidatePages& pages) {
  CandidateIdeal ideal(all);
  for (int64_t p, end; pieces.next(p, end);)
  for (; p < end; ++p) ideal.solve(p, pages);
}

void correlations(const double* candidates, const double* target, int n, Pieces& pieces, double* rho, double* r) {
  Ranks wanted(n), found(n);
  wanted.rank(target);
  for (int64_t k, end; pieces.next(k, end);)
  for (; k < end; ++k) {
    found.rank(candidates + k * n);
    rho[k] = found.correlation(wanted);
    r[k] = rho[k] == rho[k] ? pearson(candidates + k * n, target, n) : kNaN;
  }
}

void draw_pairs(const Draws& draws, int64_t first, Pieces& pieces, uint8_t* one, uint8_t* other) {
  PairDraws pairs(draws);
  const int64_t cells = int64_t(draws.rows) * draws.cols;
  for (int64_t t, end; pieces.next(t, end);)
  for (; t < end; ++t) pairs.draw(first + t, one + t * cells, other + t * cells);
}

void sign_flips(const Flips& flips, Pieces& pieces, uint8_t* reached) {
  SignFlips counter(flips);
  for (int64_t begin, end; pieces.next(begin, end);) counter.count(begin, end, reached);
}

int64_t scan_chains(const Chains& chains, Pieces& pieces, double* visits, double* weights) {
  ChainScan scan(chains);
  for (int64_t k, end; pieces.next(k, end);)
  for (; k < end; ++k) {
    const int stuck = scan.scan(k, visits + k * chains.states, weights + k * chains.cells);
    if (stuck >= 0) return k * (chains.states + 1) + stuck;
  }
  return -1;
}

int64_t layout(const Pages<double>& pages, Pieces& pieces, int64_t* source) {
  Page page(pages.rows, pages.cols);
  IdealLayout ideal(pages.weights, pages.grid_rows, pages.grid_cols, pages.rows, pages.cols);
  for (int64_t p, end; pieces.next(p, end);)
  for (; p < end; ++p) {
    const double* relevance = pages.relevance + p * page.cells;
    const int64_t readable = (pages.count - p) * page.cells;
    const bool good = pages.gain == Gain::kExp2 ? read_page<Gain::kExp2>(relevance, readable, page)
                                                : read_page<Gain::kLinear>(relevance, readable, page);
    if (!good)
      return pages.gain == Gain::kExp2 ? first_bad<Gain::kExp2>(pages.relevance, p * page.cells, (p + 1) * page.cells)
                                       : first_bad<Gain::kLinear>(pages.relevance, p * page.cells, (p + 1) * page.cells);
    if (!ideal.write(page, pages.ideal, source + p * pages.grid_rows * pages.grid_cols * 2)) return kOverflow;
  }
  return -1;
}

}  // namespace

#define CAROUSEVAL_TEXT_(x) #x
#define CAROUSEVAL_TEXT(x) CAROUSEVAL_TEXT_(x)

namespace CAROUSEVAL_ISA {
extern const Kernels kernels;
const Kernels kernels = {CAROUSEVAL_TEXT(CAROUSEVAL_ISA),
                         score<double>,
                         score<float>,
                         score<uint8_t>,
                         score<int64_t>,
                         gains,
                         category_ideal,
                         candidate_ideals,
                         correlations,
                         draw_pairs,
                         sign_flips,
                         scan_chains,
                         layout};
}
