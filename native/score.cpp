// The door from Python to scores and studies: pages, random layouts, sums over users, browsing models. As in all files
// of the door, what could make a kernel read past its arrays or count past its integers is checked here: shapes,
// offsets, sizes, and weights, which are sorted.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/arrays.h"
#include "core/exact_sums.h"
#include "core/parallel.h"
#include "kernels.h"

using namespace nb::literals;

namespace {

// A piece is worth starting a thread for (some tens of microseconds) and small enough to share out evenly.
int64_t piece_for(int64_t cells) { return std::max<int64_t>(1, (1 << 17) / std::max<int64_t>(1, cells)); }

using Relevance = Aligned<nb::ro, nb::ndim<3>>;

template <class T, class Array>
Pages<T> pages_of(const Array& relevance, const In<double, 2>& weights, Gain gain, Ideal ideal, bool as_list) {
  require_weights(weights);
  const size_t rows = relevance.shape(1), cols = relevance.shape(2);
  require(rows > 0 && cols > 0 && rows <= kMostCells && cols <= kMostCells / rows, "a page has 1 to 100,000,000 cells");
  require(ideal != Ideal::kCategory || rows <= 10'000, "a page with a category ideal has at most 10,000 rows");
  require(as_list ? rows * cols <= weights.size() : rows <= weights.shape(0) && cols <= weights.shape(1),
          "a page must fit its weights");
  return {static_cast<const T*>(relevance.data()),
          int64_t(relevance.shape(0)),
          int(rows),
          int(cols),
          weights.data(),
          int(weights.shape(0)),
          int(weights.shape(1)),
          gain,
          ideal,
          as_list};
}

// What is divided by an ideal. The two are summed in different orders and may differ by rounding where they are equal,
// so a score within 2^-48 of 1 is 1; NaN where both are 0.
double ratio_of(double total, double best) {
  const double ratio = total / best;  // divided in any case: a loop without branches
  return (total > 0) & (total >= best * (1 - 0x1p-48)) ? 1.0 : ratio;
}

Out<double> ratio(In<double, 1> total, In<double, 1> best) {
  const size_t count = total.shape(0);
  require(best.shape(0) == count, "total and best must have as many values");
  Uninitialized<double> ratios(count);
  for (size_t p = 0; p < count; ++p) ratios.data()[p] = ratio_of(total.data()[p], best.data()[p]);
  return to_numpy(std::move(ratios), {count});
}

// The page with the largest 2DCG and its largest relevance, or -infinity where no cell holds an item.
template <class T>
std::pair<size_t, double> top_page(const Pages<T>& pages, const double* dcg) {
  const size_t page = size_t(std::max_element(dcg, dcg + pages.count) - dcg);
  const int64_t cells = int64_t(pages.rows) * pages.cols;
  double largest = -std::numeric_limits<double>::infinity();
  for (const T *cell = pages.relevance + int64_t(page) * cells, *end = cell + cells; cell < end; ++cell)
    largest = double(*cell) > largest ? double(*cell) : largest;  // NaN is not
  return {page, largest};
}

nb::tuple score(Relevance relevance, In<double, 2> weights, Gain gain, Ideal ideal, bool as_list, int threads) {
  const size_t count = relevance.shape(0), kinds = ideal == Ideal::kNone ? 1 : 3;
  Uninitialized<double> sums(kinds * count);  // in one array: for a single page, each would take as long as a sum
  double *dcg = sums.data(), *best = dcg + count;
  int64_t bad = kNoAnswer;
  bool finite = true;
  std::pair<size_t, double> top{0, 0.0};
  const auto run = [&](auto kernel, auto pages) {
    bad = parallel_for(pages.count, piece_for(int64_t(pages.rows) * pages.cols), threads,
                       [&](WorkQueue& queue) { return kernel(pages, queue, dcg, best); });
    if (bad != kNoAnswer || count == 0) return;
    top = top_page(pages, dcg);
    finite = std::isfinite(dcg[top.first]);
    if (ideal == Ideal::kNone) return;
    for (size_t p = 0; p < count; ++p) {
      finite &= std::isfinite(best[p]);
      best[count + p] = ratio_of(dcg[p], best[p]);
    }
  };
  if (relevance.dtype() == nb::dtype<double>())
    run(active->score_f64, pages_of<double>(relevance, weights, gain, ideal, as_list));
  else if (relevance.dtype() == nb::dtype<float>())
    run(active->score_f32, pages_of<float>(relevance, weights, gain, ideal, as_list));
  else if (relevance.dtype() == nb::dtype<uint8_t>())
    run(active->score_u8, pages_of<uint8_t>(relevance, weights, gain, ideal, as_list));
  else if (relevance.dtype() == nb::dtype<int64_t>())
    run(active->score_i64, pages_of<int64_t>(relevance, weights, gain, ideal, as_list));
  else throw nb::type_error("relevance must be float64, float32, uint8 or int64");
  return nb::make_tuple(to_numpy(std::move(sums), {kinds, count}), finite, top.first, top.second, bad);
}

nb::tuple gains(In<double, 1> relevance, Gain gain, int threads) {
  const int64_t count = int64_t(relevance.shape(0)), blocks = (count + kGainBlock - 1) / kGainBlock;
  Uninitialized<double> out(relevance.shape(0));
  const int64_t bad = parallel_for(blocks, piece_for(kGainBlock), threads, [&](WorkQueue& queue) {
    return active->gains(relevance.data(), count, gain, queue, out.data());
  });
  return nb::make_tuple(to_numpy(std::move(out), {relevance.shape(0)}), bad);
}

nb::tuple layout(In<double, 3> relevance, In<double, 2> weights, Gain gain, Ideal ideal, int threads) {
  require(ideal != Ideal::kNone, "ideal must be CATEGORY or UNCONSTRAINED");
  const Pages<double> pages = pages_of<double>(relevance, weights, gain, ideal, false);
  require(relevance.shape(0) <= (size_t(1) << 48) / weights.size(), "pages must have at most 2^48 cells in all");
  Uninitialized<int64_t> source(size_t(pages.count) * weights.size() * 2);
  const int64_t bad = parallel_for(pages.count, piece_for(int64_t(weights.size())), threads,
                                   [&](WorkQueue& queue) { return active->layout(pages, queue, source.data()); });
  if (bad == kOverflow) throw std::overflow_error("gains times weights add up to more than a float holds");
  return nb::make_tuple(
      to_numpy(std::move(source), {relevance.shape(0), weights.shape(0), weights.shape(1), size_t(2)}), bad);
}

nb::tuple correlations(In<double, 2> candidates, In<double, 1> target, int threads) {
  const size_t count = candidates.shape(0), n = candidates.shape(1);
  require(target.shape(0) == n, "candidates and target must have as many values");
  require(n <= 2'000'000, "ranks of more than 2,000,000 values cannot be added up");
  Uninitialized<double> rho(count), r(count);
  parallel_for(int64_t(count), std::min<int64_t>(64, piece_for(int64_t(n))), threads, [&](WorkQueue& queue) {
    active->correlations(candidates.data(), target.data(), int(n), queue, rho.data(), r.data());
  });
  return nb::make_tuple(to_numpy(std::move(rho), {count}), to_numpy(std::move(r), {count}));
}

nb::tuple draw_pairs(uint64_t seed, int64_t first, size_t count, size_t rows, size_t cols, In<uint64_t, 1> up_to,
                     int top_grade, int threads) {
  require(rows > 0 && cols > 0 && rows <= 10'000 && cols <= 100'000'000 / rows, "a page has 1 to 100,000,000 cells");
  require(up_to.shape(0) + 1 >= cols, "up_to must have a chance for every number of items but the last");
  require(top_grade >= 1 && top_grade <= 255, "top_grade must be 1 to 255");
  const Draws draws = {seed, int(rows), int(cols), up_to.data(), top_grade};
  require(count <= (size_t(1) << 48) / (rows * cols), "count must be at most 2^48 cells");
  Uninitialized<uint8_t> left(count * rows * cols), right(count * rows * cols);
  parallel_for(int64_t(count), piece_for(int64_t(rows * cols)), threads,
               [&](WorkQueue& queue) { active->draw_pairs(draws, first, queue, left.data(), right.data()); });
  return nb::make_tuple(to_numpy(std::move(left), {count, rows, cols}),
                        to_numpy(std::move(right), {count, rows, cols}));
}

Out<int64_t> sign_sums(In<int64_t, 2> differences, In<uint64_t, 1> user, int64_t permutations, uint64_t seed,
                       int threads) {
  const size_t users = differences.shape(0), pairs = differences.shape(1);
  require(user.shape(0) == users, "every user must have a number");
  require(pairs <= 1'000'000, "pairs must be at most 1,000,000");
  require(permutations >= 0 && permutations <= int64_t(1) << 30, "permutations must be 0 to 2^30");
  const Flips flips = {differences.data(), user.data(), int64_t(users), int(pairs), permutations, seed};
  const int64_t words = (permutations + 63) / 64, workers = std::max(1, threads);
  const int64_t turns = std::max<int64_t>(1, (words + workers * kFlipWords - 1) / (workers * kFlipWords));
  const int64_t piece = (words + turns * workers - 1) / (turns * workers);  // as many for each thread as for the others
  Uninitialized<int64_t> sums(size_t(permutations) * pairs);
  parallel_for(words, std::max<int64_t>(1, piece), threads,
               [&](WorkQueue& queue) { active->sign_sums(flips, queue, sums.data()); });
  return to_numpy(std::move(sums), {size_t(permutations), pairs});
}

Out<double> resampled_sums(In<double, 2> values, In<uint64_t, 1> user, int64_t resamples, uint64_t seed, int threads) {
  const size_t users = values.shape(0), columns = values.shape(1);
  require(user.shape(0) == users, "every user must have a number");
  require(columns <= 1'000'000, "columns must be at most 1,000,000");
  require(resamples >= 0 && resamples <= int64_t(1) << 30, "resamples must be 0 to 2^30");
  const Resamples drawn = {values.data(), user.data(), int64_t(users), int(columns), resamples, seed};
  const int64_t words = (resamples + 3) / 4, workers = std::max(1, threads);
  const int64_t piece = std::min<int64_t>(kResampleWords, (words + workers - 1) / workers);
  Uninitialized<double> sums(size_t(resamples) * columns);
  parallel_for(words, std::max<int64_t>(1, piece), threads,
               [&](WorkQueue& queue) { active->resampled_sums(drawn, queue, sums.data()); });
  return to_numpy(std::move(sums), {size_t(resamples), columns});
}

nb::tuple exact_sums(In<double, 2> values, In<int32_t, 1> before, In<int32_t, 1> column) {
  const size_t users = values.shape(0), columns = values.shape(1), count = column.shape(0);
  require(users < size_t(1) << 31, "users must be fewer than 2^31");
  require(columns <= 10'000 && count <= 10'000, "columns and products must be at most 10,000");
  require(before.shape(0) == count, "every product wants an earlier one, or -1");
  std::vector<int> factors(count);
  for (size_t t = 0; t < count; ++t) {
    const int32_t earlier = before.data()[t];
    require(earlier >= -1 && earlier < int64_t(t), "every product wants an earlier one, or -1");
    require(column.data()[t] >= 0 && size_t(column.data()[t]) < columns, "every product wants a column of values");
    factors[t] = earlier < 0 ? 1 : factors[size_t(earlier)] + 1;
    require(factors[t] <= kMostFactors, "products must have at most 8 factors");
  }
  for (size_t v = 0; v < values.size(); ++v) require(std::isfinite(values.data()[v]), "values must be finite");
  ExactSums sums({values.data(), int64_t(users), int(columns), before.data(), column.data(), int(count)});
  parallel_for(int64_t(users), int64_t(1) << 16, 1, [&](WorkQueue& queue) {
    for (int64_t begin, end; queue.next(begin, end);) sums.add(begin, end);
  });
  Uninitialized<uint32_t> digits(count * size_t(sums.digits()));
  for (size_t t = 0; t < count; ++t) sums.write(int(t), digits.data() + t * size_t(sums.digits()));
  return nb::make_tuple(to_numpy(std::move(digits), {count, size_t(sums.digits())}),
                        to_numpy(std::vector<int64_t>(sums.lowest())));
}

nb::tuple scan_chains(In<double, 3> band, In<double, 2> leave, In<double, 2> start, In<double, 2> lost,
                      In<double, 2> landing, In<int64_t, 1> cell, size_t cells, int threads) {
  const size_t count = band.shape(0), states = band.shape(1), width = band.shape(2);
  require(cells <= kMostCells, "cells must be at most 100,000,000");
  require(cells == 0 || count <= (size_t(1) << 48) / cells, "chains must have at most 2^48 cells in all");
  require(width % 2 == 1, "a band has as many columns below its diagonal as above");
  require(states <= kMostCells / width, "the band of a chain must have at most 100,000,000 entries");
  require(cell.shape(0) == states, "every state wants a cell, or -1");
  for (size_t s = 0; s < states; ++s)
    require(cell.data()[s] >= -1 && cell.data()[s] < int64_t(cells), "every state wants a cell below cells, or -1");
  for (const auto* by_state : {&leave, &start, &lost, &landing})
    require(by_state->shape(0) == count && by_state->shape(1) == states,
            "leave, start, lost and landing want a value for every state of every chain");
  const Chains chains = {int64_t(count), int(states), int(width / 2), band.data(), leave.data(),
                         start.data(),   lost.data(), landing.data(), cell.data(), int(cells)};
  Uninitialized<double> visits(count * states), weights(count * cells);
  const int64_t stuck =
      parallel_for(int64_t(count), piece_for(int64_t(states * width)), threads,
                   [&](WorkQueue& queue) { return active->scan_chains(chains, queue, visits.data(), weights.data()); });
  if (stuck != kNoAnswer) {
    const int64_t chain = stuck / int64_t(states + 1), state = stuck % int64_t(states + 1);
    const std::string what = state == int64_t(states) ? "the hub" : "state " + std::to_string(state);
    throw nb::value_error(("chain " + std::to_string(chain) + ": " + what + " can never be left").c_str());
  }
  return nb::make_tuple(to_numpy(std::move(visits), {count, states}), to_numpy(std::move(weights), {count, cells}));
}

}  // namespace

void bind_score(nb::module_& m) {
  nb::enum_<Gain>(m, "Gain", "What an item of a relevance gains.")
      .value("EXP2", Gain::kExp2)
      .value("LINEAR", Gain::kLinear);
  nb::enum_<Ideal>(m, "Ideal", "Which ideal page to compute.")
      .value("NONE", Ideal::kNone)
      .value("CATEGORY", Ideal::kCategory)
      .value("UNCONSTRAINED", Ideal::kUnconstrained);
  m.def(
      "score", &score, "relevance"_a, "weights"_a, "gain"_a, "ideal"_a, "as_list"_a, "threads"_a,
      "2DCG of every page and, if there is an ideal, that and their ratio; whether all sums are finite; the page with "
      "the largest 2DCG and its largest relevance; and the first bad cell or -1.");
  m.def("ratio", &ratio, "total"_a, "best"_a, "Total over best, 1 where they are equal but for rounding.");
  m.def("gains", &gains, "relevance"_a, "gain"_a, "threads"_a, "The gain of every cell, and the first bad cell or -1.");
  m.def("layout", &layout, "relevance"_a, "weights"_a, "gain"_a, "ideal"_a, "threads"_a,
        "Ideal pages: the source (row, col) of every cell, or -1; and the first bad cell or -1.");
  m.def("correlations", &correlations, "candidates"_a, "target"_a, "threads"_a,
        "Spearman's rho and Pearson's r of every candidate with the target.");
  m.def("draw_pairs", &draw_pairs, "seed"_a, "first"_a, "count"_a, "rows"_a, "cols"_a, "up_to"_a, "top_grade"_a,
        "threads"_a, "Pairs of random layouts of the same carousels.");
  m.def("sign_sums", &sign_sums, "differences"_a, "user"_a, "permutations"_a, "seed"_a, "threads"_a,
        "By permutation and pair: the sum of differences, each with a random sign of its user's.");
  m.def("resampled_sums", &resampled_sums, "values"_a, "user"_a, "resamples"_a, "seed"_a, "threads"_a,
        "By resample and column: the sum of values, each times a Poisson number of its user's.");
  m.def("exact_sums", &exact_sums, "values"_a, "before"_a, "column"_a,
        "The sum over users of every product, an earlier one times a column: digits of an integer, and the exponent of "
        "the power of two that it is multiplied by.");
  m.def("scan_chains", &scan_chains, "band"_a, "leave"_a, "start"_a, "lost"_a, "landing"_a, "cell"_a, "cells"_a,
        "threads"_a, "Expected visits to every state of browsing chains, and the chance that each cell is seen.");
}
