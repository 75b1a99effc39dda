// The one door from Python into the kernels. Arguments have been checked on the Python side (metric/pages.py).
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <string>

#include "kernels.h"
#include "parallel.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace baseline { extern const Kernels kernels; }
#ifdef CAROUSEVAL_X86_LEVELS
namespace avx2 { extern const Kernels kernels; }
#endif

void bind_tables(nb::module_& m);  // tables.cpp

namespace {

using Relevance = nb::ndarray<nb::ro, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

const Kernels* runnable(const char* name) {
  const Kernels* known[] = {&baseline::kernels,
#ifdef CAROUSEVAL_X86_LEVELS
                            __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                                    __builtin_cpu_supports("bmi2")  // a processor of level x86-64-v3
                                ? &avx2::kernels
                                : nullptr,
#endif
  };
  const Kernels* best = nullptr;
  for (const Kernels* k : known)
    if (k && (!name || std::string(name) == k->name)) best = k;
  return best;
}

const Kernels* active = nullptr;

Gain gain_named(const char* name) { return std::string(name) == "exp2" ? Gain::kExp2 : Gain::kLinear; }
Ideal ideal_named(const char* name) {
  const std::string text = name;
  return text == "category" ? Ideal::kCategory : text == "unconstrained" ? Ideal::kUnconstrained : Ideal::kNone;
}

// A piece is worth starting a thread for (some tens of microseconds) and small enough to share out evenly.
int64_t piece_for(int64_t cells_per_page) { return std::max<int64_t>(1, (1 << 17) / std::max<int64_t>(1, cells_per_page)); }

template <class T>
Pages<T> pages_of(const Relevance& relevance, const In<double, 2>& weights, const char* gain, const char* ideal, bool as_list) {
  return {static_cast<const T*>(relevance.data()), int64_t(relevance.shape(0)), int(relevance.shape(1)), int(relevance.shape(2)),
          weights.data(), int(weights.shape(0)), int(weights.shape(1)), gain_named(gain), ideal_named(ideal), as_list};
}

nb::tuple score(Relevance relevance, In<double, 2> weights, const char* gain, const char* ideal, bool as_list, int threads) {
  const int64_t count = int64_t(relevance.shape(0));
  nb::capsule dcg_owner, best_owner;
  double* dcg = fresh<double>(size_t(count), dcg_owner);
  double* best = fresh<double>(ideal_named(ideal) == Ideal::kNone ? 0 : size_t(count), best_owner);
  const int64_t piece = piece_for(int64_t(relevance.shape(1) * relevance.shape(2)));
  const auto with = [&](auto kernel, auto pages) {
    return in_parallel(count, piece, threads, [&](Pieces& pieces) { return kernel(pages, pieces, dcg, best); });
  };
  int64_t bad;
  if (relevance.dtype() == nb::dtype<double>()) bad = with(active->score_f64, pages_of<double>(relevance, weights, gain, ideal, as_list));
  else if (relevance.dtype() == nb::dtype<float>()) bad = with(active->score_f32, pages_of<float>(relevance, weights, gain, ideal, as_list));
  else if (relevance.dtype() == nb::dtype<uint8_t>()) bad = with(active->score_u8, pages_of<uint8_t>(relevance, weights, gain, ideal, as_list));
  else if (relevance.dtype() == nb::dtype<int64_t>()) bad = with(active->score_i64, pages_of<int64_t>(relevance, weights, gain, ideal, as_list));
  else throw nb::type_error("relevance must be float64, float32, uint8 or int64");
  const size_t best_count = ideal_named(ideal) == Ideal::kNone ? 0 : size_t(count);
  return nb::make_tuple(Out<double>(dcg, {size_t(count)}, dcg_owner), Out<double>(best, {best_count}, best_owner), bad);
}

nb::tuple gains(In<double, 1> relevance, const char* gain, int threads) {
  const size_t count = relevance.shape(0);
  nb::capsule owner;
  double* out = fresh<double>(count, owner);
  const int64_t bad = in_parallel(int64_t(count), 1 << 17, threads, [&](Pieces& pieces) {
    return active->gains(relevance.data(), gain_named(gain), pieces, out);
  });
  return nb::make_tuple(Out<double>(out, {count}, owner), bad);
}

Out<double> category_ideal(In<double, 3> gains, In<int64_t, 2> slots, In<double, 2> weights, int threads) {
  const Categories all = {gains.data(), slots.data(), int(gains.shape(1)), int(gains.shape(2)),
                          weights.data(), int(weights.shape(0)), int(weights.shape(1))};
  const size_t count = gains.shape(0);
  nb::capsule owner;
  double* best = fresh<double>(count, owner);
  in_parallel(int64_t(count), piece_for(all.categories * all.items), threads, [&](Pieces& pieces) {
    active->category_ideal(all, pieces, best);
    return int64_t(-1);
  });
  return Out<double>(best, {count}, owner);
}

nb::tuple candidate_ideals(In<double, 1> gains, In<int64_t, 1> item_offsets, In<int32_t, 1> homes, In<int64_t, 1> home_offsets,
                           In<int32_t, 1> slots, In<int32_t, 1> pinned, In<int64_t, 1> category_offsets, In<int32_t, 1> open,
                           In<double, 2> weights, bool once, int64_t node_limit, int threads) {
  const size_t count = open.shape(0), items = gains.shape(0), categories = slots.shape(0);
  const CandidateSets all = {int64_t(count), gains.data(), item_offsets.data(), homes.data(), home_offsets.data(),
                             slots.data(), pinned.data(), category_offsets.data(), open.data(),
                             weights.data(), int(weights.shape(0)), int(weights.shape(1)), once, node_limit};
  nb::capsule best_owner, bound_owner, row_owner, home_owner;
  const CandidatePages pages = {fresh<double>(count, best_owner), fresh<double>(count, bound_owner),
                                fresh<int32_t>(categories, row_owner), fresh<int32_t>(items, home_owner)};
  in_parallel(int64_t(count), 16, threads, [&](Pieces& pieces) {  // some sets take a thousand times as long as others
    active->candidate_ideals(all, pieces, pages);
    return int64_t(-1);
  });
  return nb::make_tuple(Out<double>(pages.best, {count}, best_owner), Out<double>(pages.bound, {count}, bound_owner),
                        Out<int32_t>(pages.row, {categories}, row_owner), Out<int32_t>(pages.home, {items}, home_owner));
}

nb::tuple correlations(In<double, 2> candidates, In<double, 1> target, int threads) {
  const size_t count = candidates.shape(0), n = candidates.shape(1);
  nb::capsule rho_owner, r_owner;
  double *rho = fresh<double>(count, rho_owner), *r = fresh<double>(count, r_owner);
  in_parallel(int64_t(count), 64, threads, [&](Pieces& pieces) {
    active->correlations(candidates.data(), target.data(), int(n), pieces, rho, r);
    return int64_t(-1);
  });
  return nb::make_tuple(Out<double>(rho, {count}, rho_owner), Out<double>(r, {count}, r_owner));
}

nb::tuple draw_pairs(uint64_t seed, int64_t first, size_t count, size_t rows, size_t cols, In<uint64_t, 1> up_to, int top_grade, int threads) {
  const Draws draws = {seed, int(rows), int(cols), up_to.data(), top_grade};
  nb::capsule one_owner, other_owner;
  uint8_t *one = fresh<uint8_t>(count * rows * cols, one_owner), *other = fresh<uint8_t>(count * rows * cols, other_owner);
  in_parallel(int64_t(count), piece_for(int64_t(rows * cols)), threads, [&](Pieces& pieces) {
    active->draw_pairs(draws, first, pieces, one, other);
    return int64_t(-1);
  });
  return nb::make_tuple(Out<uint8_t>(one, {count, rows, cols}, one_owner), Out<uint8_t>(other, {count, rows, cols}, other_owner));
}

// By word of 64 permutations and pair: how many sums are at least as far from 0 as `least`.
Out<uint8_t> sign_flips(In<int64_t, 2> differences, In<uint64_t, 1> user, In<int64_t, 1> least, int64_t permutations,
                        uint64_t seed, int threads) {
  const Flips flips = {differences.data(), user.data(), int64_t(differences.shape(0)), int(differences.shape(1)),
                       least.data(), permutations, seed};
  const int64_t words = (permutations + 63) / 64;
  const int64_t turns = (words + int64_t(threads) * kFlipWords - 1) / (int64_t(threads) * kFlipWords);
  const int64_t piece = (words + turns * threads - 1) / (turns * threads);  // as many for each thread as for the others
  nb::capsule owner;
  uint8_t* reached = fresh<uint8_t>(size_t(words) * differences.shape(1), owner);
  in_parallel(words, piece, threads, [&](Pieces& pieces) {
    active->sign_flips(flips, pieces, reached);
    return int64_t(-1);
  });
  return Out<uint8_t>(reached, {size_t(words), differences.shape(1)}, owner);
}

nb::tuple scan_chains(In<double, 3> band, In<double, 2> leave, In<double, 2> start, In<double, 2> lost, In<double, 2> landing,
                      In<int64_t, 1> cell, size_t cells, int threads) {
  const size_t count = band.shape(0), states = band.shape(1), width = band.shape(2);
  if (width % 2 == 0) throw nb::value_error("a band has as many columns below its diagonal as above");
  if (cell.shape(0) != states) throw nb::value_error("every state wants a cell, or -1");
  for (const auto* by_state : {&leave, &start, &lost, &landing})
    if (by_state->shape(0) != count || by_state->shape(1) != states)
      throw nb::value_error("leave, start, lost and landing want a value for every state of every chain");
  const Chains chains = {int64_t(count), int(states), int(width / 2), band.data(), leave.data(), start.data(),
                         lost.data(), landing.data(), cell.data(), int(cells)};
  nb::capsule visits_owner, weights_owner;
  double *visits = fresh<double>(count * states, visits_owner), *weights = fresh<double>(count * cells, weights_owner);
  const int64_t stuck = in_parallel(int64_t(count), piece_for(int64_t(states * width * width)), threads,
                                    [&](Pieces& pieces) { return active->scan_chains(chains, pieces, visits, weights); });
  if (stuck >= 0) {
    const int64_t chain = stuck / int64_t(states + 1), state = stuck % int64_t(states + 1);
    const std::string what = state == int64_t(states) ? "the hub" : "state " + std::to_string(state);
    throw nb::value_error(("chain " + std::to_string(chain) + ": " + what + " can never be left").c_str());
  }
  return nb::make_tuple(Out<double>(visits, {count, states}, visits_owner), Out<double>(weights, {count, cells}, weights_owner));
}

nb::tuple layout(Relevance relevance, In<double, 2> weights, const char* gain, const char* ideal, int threads) {
  const Pages<double> stack = pages_of<double>(relevance, weights, gain, ideal, false);
  const size_t count = relevance.shape(0), rows = weights.shape(0), cols = weights.shape(1);
  nb::capsule owner;
  int64_t* source = fresh<int64_t>(count * rows * cols * 2, owner);
  const int64_t bad = in_parallel(int64_t(count), piece_for(int64_t(rows * cols)), threads,
                                  [&](Pieces& pieces) { return active->layout(stack, pieces, source); });
  return nb::make_tuple(Out<int64_t>(source, {count, rows, cols, 2}, owner), bad);
}

}  // namespace

NB_MODULE(_native, m) {
  active = runnable(nullptr);
  m.doc() = "Kernels of carouseval; use the functions of carouseval.metric, which check their arguments.";
  m.attr("OVERFLOW") = kOverflow;
  m.def("score", &score, "relevance"_a, "weights"_a, "gain"_a, "ideal"_a, "as_list"_a, "threads"_a);
  m.def("gains", &gains, "relevance"_a, "gain"_a, "threads"_a);
  m.def("category_ideal", &category_ideal, "gains"_a, "slots"_a, "weights"_a, "threads"_a);
  m.def("candidate_ideals", &candidate_ideals, "gains"_a, "item_offsets"_a, "homes"_a, "home_offsets"_a, "slots"_a, "pinned"_a,
        "category_offsets"_a, "open"_a, "weights"_a, "once"_a, "node_limit"_a, "threads"_a);
  m.def("correlations", &correlations, "candidates"_a, "target"_a, "threads"_a);
  m.def("draw_pairs", &draw_pairs, "seed"_a, "first"_a, "count"_a, "rows"_a, "cols"_a, "up_to"_a, "top_grade"_a, "threads"_a);
  m.def("sign_flips", &sign_flips, "differences"_a, "user"_a, "least"_a, "permutations"_a, "seed"_a, "threads"_a);
  m.def("scan_chains", &scan_chains, "band"_a, "leave"_a, "start"_a, "lost"_a, "landing"_a, "cell"_a, "cells"_a, "threads"_a);
  m.def("layout", &layout, "relevance"_a, "weights"_a, "gain"_a, "ideal"_a, "threads"_a);
  bind_tables(m);
  m.def("instruction_set", [] { return active->name; }, "The instruction set in use.");
  m.def("use_instruction_set", [](const char* name) {
    const Kernels* found = runnable(name);
    if (!found) throw nb::value_error("this machine or build cannot run that instruction set");
    active = found;
  }, "name"_a, "Switch kernels (for tests: every set gives the same bits).");
}
