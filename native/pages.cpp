// The door from Python to the pages of tables: what they show and what is wrong with them, what their hits score, and
// what their ideals may show.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <tuple>
#include <vector>

#include "core/arrays.h"
#include "core/interpreter.h"
#include "core/parallel.h"
#include "tables/candidate_gatherer.h"
#include "tables/hits.h"
#include "tables/membership.h"
#include "tables/page_reader.h"

using namespace nb::literals;

namespace {

using MembershipArrays = std::tuple<In<int64_t, 1>, In<uint32_t, 1>, In<int64_t, 1>, In<uint64_t, 1>>;

Membership membership_of(const MembershipArrays& arrays, const Carousels& carousels) {
  const auto& [offsets, categories, personal_offsets, personal] = arrays;
  require(offsets.is_valid() && categories.is_valid() && personal_offsets.is_valid() && personal.is_valid(),
          "membership must have four arrays");
  return {checked_offsets(offsets, categories.shape(0), "membership"), categories.data(),
          checked_offsets(personal_offsets, personal.shape(0), "personal membership"), personal.data(), carousels};
}

using CarouselArrays = std::tuple<In<int32_t, 1>, In<uint8_t, 1>, In<int64_t, 1>, In<uint64_t, 1>>;

Carousels carousels_of(const std::optional<CarouselArrays>& arrays) {
  if (!arrays) return {};
  const auto& [capacity, restricted, personal_offsets, personal] = *arrays;
  require(capacity.is_valid() && restricted.is_valid() && personal_offsets.is_valid() && personal.is_valid(),
          "carousels must have four arrays");
  require(capacity.shape(0) == restricted.shape(0), "every category must have a capacity");
  for (size_t k = 0; k < capacity.shape(0); ++k) require(capacity.data()[k] >= 0, "capacities must be 0 or more");
  return {capacity.data(), restricted.data(), uint32_t(capacity.shape(0)),
          checked_offsets(personal_offsets, personal.shape(0), "own carousels"), personal.data()};
}

nb::tuple read_pages(In<uint32_t, 2> lines, In<int64_t, 1> begin, In<int64_t, 1> end, In<int64_t, 1> pages,
                     In<uint32_t, 1> judgments, In<uint32_t, 1> user, In<uint8_t, 1> grid, In<int32_t, 2> grids,
                     In<int64_t, 1> judged_offsets, In<uint32_t, 1> judged_item, In<uint8_t, 1> gaining,
                     std::optional<MembershipArrays> membership, std::optional<CarouselArrays> carousels, bool labelled,
                     bool mark_lines, int threads) {
  const Line* line = records_of<Line>(lines);
  const size_t count = pages.shape(0), all = begin.shape(0);
  require(end.shape(0) == all && judgments.shape(0) == all && user.shape(0) == all && grid.shape(0) == all,
          "every page must have lines, judgments, a user and a grid");
  require(judged_item.shape(0) == gaining.shape(0), "every judgment must have an item");
  require(judged_item.shape(0) <= kNone, "judgments must be at most 4,294,967,295");
  require(grids.shape(1) == 2, "a grid has rows and cols");
  int stride = 0;
  for (size_t g = 0; g < grids.shape(0); ++g) {
    const int32_t *size = grids.data() + 2 * g, rows = size[0], cols = size[1];
    require(rows >= 1 && rows < 1 << 15 && cols >= 1 && cols < 1 << 16, "a grid has 1..32767 rows and 1..65535 cols");
    stride = std::max(stride, rows);
  }
  for (size_t n = 0; n < count; ++n) {
    const int64_t page = pages.data()[n];
    require(page >= 0 && page < int64_t(all) && grid.data()[page] < grids.shape(0), "pages must exist and have a grid");
    require(begin.data()[page] >= 0 && begin.data()[page] <= end.data()[page] &&
                end.data()[page] <= int64_t(lines.shape(0)),
            "pages must begin and end among the lines");
  }
  const Judgments judged = {checked_offsets(judged_offsets, judged_item.shape(0), "judged_offsets"), judged_item.data(),
                            gaining.data()};
  const Carousels declared = carousels_of(carousels);
  const Membership known = membership ? membership_of(*membership, declared) : Membership{};

  const size_t rows = size_t(stride);
  std::vector<uint16_t> length(count * rows);
  std::vector<uint32_t> category(count * rows, kNone), duplicates(count), unjudged(count);
  std::vector<uint8_t> pinned(count * rows);
  std::vector<uint16_t> defects(count), marks(mark_lines ? lines.shape(0) : 0);
  const PageTable table = {length.data(),   category.data(), pinned.data(), duplicates.data(),
                           unjudged.data(), defects.data(),  stride};
  constexpr int64_t kPiece = 512;
  std::vector<std::vector<Hit>> hits_by_piece((count + kPiece - 1) / kPiece);
  std::vector<int64_t> offsets(count + 1, 0);
  parallel_for(int64_t(count), kPiece, threads, [&](WorkQueue& queue) {
    PageReader reader(judged, membership ? &known : nullptr, declared, labelled);
    for_each(queue, [&](int64_t n) {
      std::vector<Hit>& hits = hits_by_piece[size_t(n / kPiece)];
      const int64_t page = pages.data()[n], first = begin.data()[page];
      const int32_t* size = grids.data() + 2 * grid.data()[page];
      const size_t before = hits.size();
      reader.read(line + first, end.data()[page] - first, judgments.data()[page], user.data()[page], size[0], size[1],
                  table, n, hits, mark_lines ? marks.data() + first : nullptr);
      offsets[size_t(n) + 1] = int64_t(hits.size() - before);
    });
  });
  for (size_t n = 0; n < count; ++n) offsets[n + 1] += offsets[n];
  std::vector<uint32_t> hits;
  hits.reserve(size_t(offsets[count]) * 3);
  for (std::vector<Hit>& piece : hits_by_piece) {
    for (const Hit& hit : piece) hits.insert(hits.end(), {hit.judgment, hit.place, hit.rank});
    std::vector<Hit>().swap(piece);
  }
  const size_t hit_count = hits.size() / 3;
  return nb::make_tuple(to_numpy(std::move(offsets)), to_numpy(std::move(hits), {hit_count, 3}),
                        to_numpy(std::move(length), {count, rows}), to_numpy(std::move(category), {count, rows}),
                        to_numpy(std::move(pinned), {count, rows}), to_numpy(std::move(duplicates)),
                        to_numpy(std::move(unjudged)), to_numpy(std::move(defects)), to_numpy(std::move(marks)));
}

nb::tuple score_hits(In<int64_t, 1> offsets, In<uint32_t, 2> hits, In<double, 1> gain, In<double, 2> weights,
                     bool as_list, Repeats repeats, int threads) {
  const Offsets pages = checked_offsets(offsets, hits.shape(0), "offsets");
  const Hit* hit = records_of<Hit>(hits);
  const size_t count = size_t(pages.count);
  Uninitialized<double> score(count), counted(hits.shape(0));
  const int64_t bad = parallel_for(pages.count, 1024, threads, [&](WorkQueue& queue) {
    HitScorer scorer({gain.data(), gain.shape(0)}, {weights.data(), weights.shape(0), weights.shape(1)}, as_list,
                     repeats);
    return for_each(queue, [&](int64_t page) {
      const int64_t first = pages.begin(page), size = pages.size(page);
      if (!scorer.accepts(hit + first, size)) return page;
      score.data()[page] = scorer.score(hit + first, size, counted.data() + first);
      return kNoAnswer;
    });
  });
  require(bad == kNoAnswer, "hits must have a gain and a weight");
  return nb::make_tuple(to_numpy(std::move(score), {count}), to_numpy(std::move(counted), {hits.shape(0)}));
}

nb::tuple gather_candidates(In<uint32_t, 1> judgments, In<uint32_t, 1> user, In<int64_t, 1> judged_offsets,
                            In<uint32_t, 1> judged_item, In<double, 1> gain, MembershipArrays membership,
                            In<uint32_t, 1> sizes, std::optional<CarouselArrays> carousels, In<int64_t, 1> pin_offsets,
                            In<uint32_t, 2> pins, int rows, int cols) {
  const Membership known = membership_of(membership, carousels_of(carousels));
  const Offsets judged = checked_offsets(judged_offsets, judged_item.shape(0), "judged_offsets");
  const Offsets pinned = checked_offsets(pin_offsets, pins.shape(0), "pin_offsets");
  const size_t count = judgments.shape(0);
  require(user.shape(0) == count && pin_offsets.shape(0) == count + 1, "every problem must have a user and pins");
  require(judged_item.shape(0) == gain.shape(0), "every judgment must have a gain");
  const Pin* pin = records_of<Pin>(pins);
  require(rows >= 0 && cols >= 0, "rows and cols must be 0 or more");
  require(sizes.shape(0) <= kSeveral, "sizes must be of at most 4,294,967,294 categories");
  CandidateLists out;
  {
    const Unlocked unlocked;
    CandidateGatherer gatherer(known, sizes.data(), uint32_t(sizes.shape(0)), rows, cols);
    Interrupts interrupts;
    for (size_t problem = 0; problem < count; ++problem) {
      if (problem % 64 == 0) interrupts.poll();
      const uint32_t group = judgments.data()[problem];
      gatherer.gather(judged.begin(group), judged.end(group), judged_item.data(), gain.data(), user.data()[problem],
                      pin + pinned.begin(int64_t(problem)), pinned.size(int64_t(problem)), out);
    }
  }
  return nb::make_tuple(
      to_numpy(std::move(out.gain)), to_numpy(std::move(out.judgment)), to_numpy(std::move(out.item_offsets)),
      to_numpy(std::move(out.item_categories)), to_numpy(std::move(out.item_category_offsets)),
      to_numpy(std::move(out.slots)), to_numpy(std::move(out.pinned)), to_numpy(std::move(out.category)),
      to_numpy(std::move(out.category_offsets)), to_numpy(std::move(out.open)), to_numpy(std::move(out.uncategorised)));
}

Out<double> largest_first(In<int64_t, 1> offsets, In<double, 1> gain, In<int32_t, 1> copies, In<double, 1> weights,
                          int threads) {
  const Offsets lists = checked_offsets(offsets, gain.shape(0), "offsets");
  require(copies.shape(0) == gain.shape(0), "every gain must have copies");
  Uninitialized<double> best(size_t(lists.count));
  parallel_for(lists.count, 1024, threads, [&](WorkQueue& queue) {
    std::vector<double> sorted;
    for_each(queue, [&](int64_t list) {
      sorted.clear();
      for (int64_t j = lists.begin(list), end = lists.end(list); j < end; ++j)
        if (gain.data()[j] > 0)
          sorted.insert(sorted.end(), std::min(size_t(std::max(0, copies.data()[j])), weights.shape(0)),
                        gain.data()[j]);
      std::sort(sorted.begin(), sorted.end(), std::greater<double>());
      double total = 0.0;
      for (size_t r = 0; r < sorted.size() && r < weights.shape(0); ++r) total += sorted[r] * weights.data()[r];
      best.data()[list] = total;
    });
  });
  return to_numpy(std::move(best), {size_t(lists.count)});
}

}  // namespace

void bind_pages(nb::module_& m) {
  nb::enum_<Repeats>(m, "Repeats", "How an item counts that a page shows more than once.")
      .value("BEST", Repeats::kBest)
      .value("FIRST", Repeats::kFirst)
      .value("EVERY", Repeats::kEvery);
  nb::enum_<Defect>(m, "Defect", nb::is_flag(), nb::is_arithmetic(), "What may be wrong with a page, one bit each.")
      .value("CELL_TWICE", kCellTwice)
      .value("OUTSIDE_GRID", kOutsideGrid)
      .value("GAP", kGap)
      .value("SKIPPED_ROW", kSkippedRow)
      .value("REPEATED_CATEGORY", kRepeatedCategory)
      .value("OUTSIDE_CATEGORY", kOutsideCategory)
      .value("PINNED_IN_PART", kPinnedInPart)
      .value("OVER_CAPACITY", kOverCapacity)
      .value("REPEATED_ITEM", kRepeatedItem)
      .value("UNJUDGED", kUnjudged)
      .value("PINNED_UNKNOWN", kPinnedUnknown);
  m.def("read_pages", &read_pages, "lines"_a, "begin"_a, "end"_a, "pages"_a, "judgments"_a, "user"_a, "grid"_a,
        "grids"_a, "judged_offsets"_a, "judged_item"_a, "gaining"_a, "membership"_a.none(), "carousels"_a.none(),
        "labelled"_a, "mark_lines"_a, "threads"_a,
        "Hits of pages, the length, category and pin of every row, and what is wrong with each page; and with each "
        "line, where lines are to be marked.");
  m.def("score_hits", &score_hits, "offsets"_a, "hits"_a, "gain"_a, "weights"_a, "as_list"_a, "repeats"_a, "threads"_a,
        "2DCG of every page from its hits, and what each hit weighs.");
  m.def("gather_candidates", &gather_candidates, "judgments"_a, "user"_a, "judged_offsets"_a, "judged_item"_a, "gain"_a,
        "membership"_a, "sizes"_a, "carousels"_a.none(), "pin_offsets"_a, "pins"_a, "rows"_a, "cols"_a,
        "The items and categories that each ideal page may show, as candidate_ideals takes them.");
  m.def("largest_first", &largest_first, "offsets"_a, "gain"_a, "copies"_a, "weights"_a, "threads"_a,
        "The largest gains on the largest weights (which come sorted), list by list; each gain `copies` times.");
}
