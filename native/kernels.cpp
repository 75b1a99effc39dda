// Compiled once per instruction set; CAROUSEVAL_ISA names the namespace. Everything else here has internal linkage, so
// no function built for one set can stand in for another's.
#include "kernels.h"

#include <algorithm>
#include <cmath>

#include "core/simd.h"
#include "score/chain.h"
#include "score/correlation.h"
#include "score/draws.h"
#include "score/ideal.h"
#include "score/layout.h"
#include "score/page.h"
#include "score/resampling.h"
#include "search/candidate_ideal.h"
#include "search/first_copy_ideal.h"

namespace {

template <class T>
int64_t first_bad(const T* relevance, Gain gain, int64_t begin, int64_t end) {
  const double limit = gain == Gain::kExp2 ? 1024.0 : kInfinity;
  for (int64_t c = begin; c < end; ++c)
    if (double(relevance[c]) < 0 || double(relevance[c]) >= limit) return c;
  return kNoAnswer;
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
int64_t score_only(const Pages<T>& pages, WorkQueue& queue, double* dcg) {
  const int cells = pages.rows * pages.cols;
  const PageWeights weight(pages);
  bool fractions = false;
  return for_each(queue, [&](int64_t p) CAROUSEVAL_INLINE_LAMBDA {
    Lanes total;
    const bool good = each_gain<gain>(
        pages.relevance + p * cells, cells, (pages.count - p) * cells, fractions, [&] { total = fill(0.0); },
        [&](int c, Lanes g, Mask) CAROUSEVAL_INLINE_LAMBDA { total = total + g * load(weight.at(c)); });
    dcg[p] = sum(total);
    return good ? kNoAnswer : first_bad(pages.relevance, gain, p * cells, (p + 1) * cells);
  });
}

// Moves the items of a page to the front, as one list.
void close_ranks(const Page& page, Buffer<double>& list) {
  int next = 0;
  page.held.each(0, page.cells, [&](int c) { list[next++] = page.gain[c]; });
  while (next < list.size()) list[next++] = 0.0;
}

template <Gain gain, class T, class BestOf>
int64_t score_with(const Pages<T>& pages, WorkQueue& queue, double* dcg, double* best, BestOf best_of) {
  Page page(pages.rows, pages.cols);
  const PageWeights weight(pages);
  Buffer<double> list(padded(page.cells));
  return for_each(queue, [&](int64_t p) CAROUSEVAL_INLINE_LAMBDA {
    if (!read_page<gain>(pages.relevance + p * page.cells, (pages.count - p) * page.cells, page))
      return first_bad(pages.relevance, gain, p * page.cells, (p + 1) * page.cells);
    const double* gains = page.gain.at(0);
    if (pages.as_list && !page.full) {
      close_ranks(page, list);
      gains = list.at(0);
    }
    dcg[p] = dot(gains, weight.at(0), page.cells);
    if (best) best[p] = best_of(page);
    return kNoAnswer;
  });
}

template <Gain gain, class T>
int64_t score_gain(const Pages<T>& pages, WorkQueue& queue, double* dcg, double* best) {
  if (pages.ideal == Ideal::kCategory) {
    CategoryIdeal ideal(pages.weights, pages.grid_rows, pages.grid_cols, pages.rows, pages.cols, queue);
    return score_with<gain>(pages, queue, dcg, best, [&](const Page& page) { return ideal.of_page(page); });
  }
  if (pages.ideal == Ideal::kUnconstrained) {
    UnconstrainedIdeal ideal(pages.weights, pages.grid_rows * pages.grid_cols, pages.rows * pages.cols);
    return score_with<gain>(pages, queue, dcg, best, [&](const Page& page) { return ideal.of_page(page); });
  }
  if (pages.as_list) return score_with<gain>(pages, queue, dcg, nullptr, [](const Page&) { return 0.0; });
  return score_only<gain>(pages, queue, dcg);
}

template <class T>
int64_t score(const Pages<T>& pages, WorkQueue& queue, double* dcg, double* best) {
  return pages.gain == Gain::kExp2 ? score_gain<Gain::kExp2>(pages, queue, dcg, best)
                                   : score_gain<Gain::kLinear>(pages, queue, dcg, best);
}

// Gains cell by cell; empty cells stay NaN.
int64_t gains(const double* relevance, int64_t count, Gain gain, WorkQueue& blocks, double* out) {
  bool fractions = false;
  return for_each(blocks, [&](int64_t block) CAROUSEVAL_INLINE_LAMBDA {
    const int64_t begin = block * kGainBlock, readable = count - begin;
    const int cells = int(std::min<int64_t>(readable, kGainBlock));
    const auto write = [&](int c, Lanes g, Mask held) {
      g = select(held, g, fill(kNaN));
      for (int l = 0; l < kLanes && c + l < cells; ++l) out[begin + c + l] = g[l];
    };
    const bool good = gain == Gain::kExp2
                          ? each_gain<Gain::kExp2>(
                                relevance + begin, cells, readable, fractions, [] {}, write)
                          : each_gain<Gain::kLinear>(relevance + begin, cells, readable, fractions, [] {}, write);
    return good ? kNoAnswer : first_bad(relevance, gain, begin, begin + cells);
  });
}

void candidate_ideals(const CandidateSets& all, WorkQueue& queue, const CandidatePages& pages) {
  CandidateIdeal ideal(all, queue);
  for_each(queue, [&](int64_t p) { ideal.solve(p, pages); });
}

void first_copy_ideals(const FirstCopySets& all, WorkQueue& queue, const FirstCopyPages& pages) {
  FirstCopyIdeal ideal(all, queue);
  for_each(queue, [&](int64_t p) { ideal.solve(p, pages); });
}

void correlations(const double* candidates, const double* target, int n, WorkQueue& queue, double* rho, double* r) {
  Ranks target_ranks(n), ranks(n);
  target_ranks.rank(target);
  for_each(queue, [&](int64_t k) {
    const double* candidate = candidates + k * n;
    ranks.rank(candidate);
    queue.check_stop();  // sorting millions of values takes a while
    rho[k] = ranks.correlation(target_ranks);
    r[k] = rho[k] == rho[k] ? pearson(candidate, target, n) : kNaN;
  });
}

void draw_pairs(const Draws& draws, int64_t first, WorkQueue& queue, uint8_t* left, uint8_t* right) {
  PairDraws pairs(draws);
  const int64_t cells = int64_t(draws.rows) * draws.cols;
  for_each(queue, [&](int64_t t) { pairs.draw(uint64_t(first) + uint64_t(t), left + t * cells, right + t * cells); });
}

void sign_sums(const Flips& flips, WorkQueue& queue, int64_t* sums) {
  SignSums adder(flips, queue);
  for (int64_t begin, end; queue.next(begin, end);) adder.add_up(begin, end, sums);
}

void resampled_sums(const Resamples& resamples, WorkQueue& queue, double* sums) {
  ResampledSums adder(resamples, queue);
  for (int64_t begin, end; queue.next(begin, end);) adder.add_up(begin, end, sums);
}

int64_t scan_chains(const Chains& chains, WorkQueue& queue, double* visits, double* weights) {
  ChainScan scan(chains, queue);
  return for_each(queue, [&](int64_t k) {
    const int stuck = scan.scan(k, visits + k * chains.states, weights + k * chains.cells);
    return stuck < 0 ? kNoAnswer : k * (chains.states + 1) + stuck;
  });
}

int64_t layout(const Pages<double>& pages, WorkQueue& queue, int64_t* source) {
  Page page(pages.rows, pages.cols);
  IdealLayout ideal(pages.weights, pages.grid_rows, pages.grid_cols, pages.rows, pages.cols, queue);
  const int64_t grid_cells = int64_t(pages.grid_rows) * pages.grid_cols;
  return for_each(queue, [&](int64_t p) {
    const double* relevance = pages.relevance + p * page.cells;
    const int64_t readable = (pages.count - p) * page.cells;
    const bool good = pages.gain == Gain::kExp2 ? read_page<Gain::kExp2>(relevance, readable, page)
                                                : read_page<Gain::kLinear>(relevance, readable, page);
    if (!good) return first_bad(pages.relevance, pages.gain, p * page.cells, (p + 1) * page.cells);
    return ideal.write(page, pages.ideal, source + p * grid_cells * 2) ? kNoAnswer : kOverflow;
  });
}

}  // namespace

namespace CAROUSEVAL_ISA {
extern const Kernels kernels;
const Kernels kernels = {score<double>,    score<float>,      score<uint8_t>, score<int64_t>, gains,
                         candidate_ideals, first_copy_ideals, correlations,   draw_pairs,     sign_sums,
                         resampled_sums,   scan_chains,       layout};
}  // namespace CAROUSEVAL_ISA
