// The door from Python to the searches for ideals of which an item counts once.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/arrays.h"
#include "core/parallel.h"
#include "kernels.h"

using namespace nb::literals;

namespace {

constexpr int64_t kPiece = 1;  // some sets take a thousand times as long as others, and a few may be all there are

void require_candidates(const CandidateSets& all) {
  for (int64_t p = 0; p < all.count; ++p) {
    const int64_t categories = all.category_offsets[p + 1] - all.category_offsets[p];
    const int64_t *offsets = all.item_category_offsets, begin = offsets[all.item_offsets[p]];
    const int64_t end = offsets[all.item_offsets[p + 1]], items = all.item_offsets[p + 1] - all.item_offsets[p];
    require(std::max({items, categories, end - begin}) <= int64_t(kMostCells),
            "a set has at most 100,000,000 items, categories and memberships");
    for (int64_t n = begin; n < end; ++n)
      require(all.item_categories[n] >= 0 && all.item_categories[n] < categories,
              "the categories of an item must be among those of its set");
    for (int64_t k = all.category_offsets[p]; k < all.category_offsets[p + 1]; ++k)
      require(all.pinned[k] < all.grid_rows, "categories must be pinned to rows of the grid");
  }
}

nb::tuple candidate_ideals(In<double, 1> gains, In<int64_t, 1> item_offsets, In<int32_t, 1> item_categories,
                           In<int64_t, 1> item_category_offsets, In<int32_t, 1> slots, In<int32_t, 1> pinned,
                           In<int64_t, 1> category_offsets, In<int32_t, 1> open, In<double, 2> weights,
                           double tolerance, int64_t work_limit, int threads) {
  const size_t count = open.shape(0), items = gains.shape(0), categories = slots.shape(0);
  require_weights(weights);
  checked_offsets(item_offsets, items, "item_offsets");
  checked_offsets(item_category_offsets, item_categories.shape(0), "item_category_offsets");
  checked_offsets(category_offsets, categories, "category_offsets");
  require(item_offsets.shape(0) == count + 1 && category_offsets.shape(0) == count + 1 &&
              item_category_offsets.shape(0) == items + 1 && pinned.shape(0) == categories,
          "every set must have its items and categories, every item and category its values");
  require(tolerance >= 0 && tolerance <= 1, "tolerance must be 0 to 1");
  require(work_limit >= 0 && work_limit <= 1'000'000'000'000'000'000, "work_limit must be 0 to 1e18");
  const CandidateSets all = {int64_t(count),
                             gains.data(),
                             item_offsets.data(),
                             item_categories.data(),
                             item_category_offsets.data(),
                             slots.data(),
                             pinned.data(),
                             category_offsets.data(),
                             open.data(),
                             weights.data(),
                             int(weights.shape(0)),
                             int(weights.shape(1)),
                             tolerance,
                             work_limit};
  require_candidates(all);
  Uninitialized<double> best(count), bound(count);
  Uninitialized<int32_t> row(categories), item_category(items);
  const CandidatePages pages = {best.data(), bound.data(), row.data(), item_category.data()};
  parallel_for(int64_t(count), kPiece, threads, [&](WorkQueue& queue) { active->candidate_ideals(all, queue, pages); });
  return nb::make_tuple(to_numpy(std::move(best), {count}), to_numpy(std::move(bound), {count}),
                        to_numpy(std::move(row), {categories}), to_numpy(std::move(item_category), {items}));
}

void require_first_copies(const FirstCopySets& all) {
  for (int64_t c = 0; c < int64_t(all.grid_rows) * all.grid_cols; ++c)
    require(all.weights[c] <= 1.0, "weights must be at most 1");
  for (int64_t t = 0; t < all.item_offsets[all.count]; ++t)
    require(std::isfinite(all.gains[t]), "gains must be finite");
  std::vector<int64_t> filled;  // by row: slots
  for (int64_t p = 0; p < all.count; ++p) {
    const int64_t height = all.row_offsets[p + 1] - all.row_offsets[p];
    const int64_t page_items = all.item_offsets[p + 1] - all.item_offsets[p];
    require(height <= all.grid_rows && page_items <= int64_t(kMostCells), "a page must fit its weights");
    filled.assign(size_t(height), 0);
    const int64_t* offsets = all.item_row_offsets;
    for (int64_t n = offsets[all.item_offsets[p]]; n < offsets[all.item_offsets[p + 1]]; ++n) {
      require(all.item_rows[n] >= 0 && all.item_rows[n] < height, "the rows of an item must be among its page's");
      require(all.copies[n] > 0, "a row shows its items at least once");
      filled[size_t(all.item_rows[n])] += all.copies[n];
    }
    for (int64_t k = 0; k < height; ++k) {
      const int32_t slots = all.slots[all.row_offsets[p] + k];
      require(slots <= all.grid_cols && filled[size_t(k)] <= slots,
              "the items of a row must fit its slots and weights");
    }
  }
}

nb::tuple first_copy_ideals(In<double, 1> gains, In<int64_t, 1> item_offsets, In<int32_t, 1> item_rows,
                            In<int64_t, 1> item_row_offsets, In<int32_t, 1> copies, In<int32_t, 1> slots,
                            In<bool, 1> fixed, In<int64_t, 1> row_offsets, In<double, 2> weights, In<double, 1> bound,
                            In<int32_t, 1> start, int width, int threads) {
  const size_t count = bound.shape(0), items = gains.shape(0), rows = slots.shape(0);
  require_weights(weights);
  checked_offsets(item_offsets, items, "item_offsets");
  checked_offsets(item_row_offsets, item_rows.shape(0), "item_row_offsets");
  checked_offsets(row_offsets, rows, "row_offsets");
  require(item_offsets.shape(0) == count + 1 && row_offsets.shape(0) == count + 1 &&
              item_row_offsets.shape(0) == items + 1 && copies.shape(0) == item_rows.shape(0) &&
              fixed.shape(0) == rows && start.shape(0) == rows,
          "every page must have its items and rows, every item and row its values");
  require(width >= 0 && width <= 100'000, "width must be 0 to 100,000");
  const FirstCopySets all = {
      int64_t(count),        gains.data(),          item_offsets.data(), item_rows.data(),   item_row_offsets.data(),
      copies.data(),         slots.data(),          fixed.data(),        row_offsets.data(), weights.data(),
      int(weights.shape(0)), int(weights.shape(1)), bound.data(),        start.data(),       width};
  require_first_copies(all);
  Uninitialized<double> best(count), proven(count);
  Uninitialized<int32_t> place(rows), item_row(items), item_col(items);
  const FirstCopyPages pages = {best.data(), proven.data(), place.data(), item_row.data(), item_col.data()};
  parallel_for(int64_t(count), kPiece, threads,
               [&](WorkQueue& queue) { active->first_copy_ideals(all, queue, pages); });
  return nb::make_tuple(to_numpy(std::move(best), {count}), to_numpy(std::move(proven), {count}),
                        to_numpy(std::move(place), {rows}), to_numpy(std::move(item_row), {items}),
                        to_numpy(std::move(item_col), {items}));
}

}  // namespace

void bind_search(nb::module_& m) {
  m.def("candidate_ideals", &candidate_ideals, "gains"_a, "item_offsets"_a, "item_categories"_a,
        "item_category_offsets"_a, "slots"_a, "pinned"_a, "category_offsets"_a, "open"_a, "weights"_a, "tolerance"_a,
        "work_limit"_a, "threads"_a,
        "The best page of each set of items, its bound, the row of every category and the category of every item.");
  m.def("first_copy_ideals", &first_copy_ideals, "gains"_a, "item_offsets"_a, "item_rows"_a, "item_row_offsets"_a,
        "copies"_a, "slots"_a, "fixed"_a, "row_offsets"_a, "weights"_a, "bound"_a, "start"_a, "width"_a, "threads"_a,
        "The best order of each page whose items count where they come first, its bound, the place of every row, and "
        "the row and column of every item.");
}
