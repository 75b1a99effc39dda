// Displayed ideals where a repeated item counts where it comes first (duplicates="first").
//
// An item counts in the first row that shows it, so what the rows below a place can gain depends on the set of rows
// above it, not on their order: a dynamic program over sets of rows, place by place from the top. Where rows are many,
// sets that cannot lead to a better page than the best one found are dropped, and at most so many are kept at each
// place, those with the best bounds; the best of the others bounds the ideal.
#pragma once

#include <algorithm>

#include "core/random.h"
#include "search/first_copy_bound.h"
#include "search/first_copy_page.h"

namespace {

class FirstCopyIdeal {
 public:
  FirstCopyIdeal(const FirstCopySets& all, WorkQueue& queue)
      : all_(all), queue_(queue), most_(all), page_(all, most_), bound_(page_, most_, queue), order_(most_.rows),
        best_order_(most_.rows), start_(most_.rows), seen_(most_.items) {}

  void solve(int64_t p, const FirstCopyPages& out) {
    page_.read(p);
    const int64_t first_row = all_.row_offsets[p];
    best_ = -1.0;
    for (int k = 0; k < page_.height(); ++k) order_[k] = k;
    try_order();
    order_by(all_.start + first_row);
    try_order();
    if (page_.repeats()) {
      const double given = page_.scaled(all_.bound[p]), bound = attains(given) ? given : search(given);
      out.best[p] = page_.unscaled(best_);
      // where a search inside a row was cut short, that for the order proves nothing
      const double proven = page_.exact() ? bound : given;
      out.bound[p] = attains(proven) ? out.best[p] : page_.unscaled(proven);
    } else {
      out.best[p] = out.bound[p] = all_.bound[p];
    }
    write(first_row, all_.item_offsets[p], out);
  }

 private:
  // Some live rows on the first places, and the best order of them.
  struct Above {
    uint64_t rows;
    double value;
    double rest;     // at most so much can be gained below
    int32_t parent;  // in the layer before
    int32_t bit;     // the row on the last place; -1: one without relevant items
  };

  bool attains(double value) const { return value <= best_ * (1 + 0x1p-48); }

  // order_: the rows in the places where another solution has them, the others in order.
  void order_by(const int32_t* start) {
    const int height = page_.height();
    for (int i = 0; i < height; ++i) order_[i] = page_.fixed(i) ? i : -1;
    for (int k = 0; k < height; ++k)
      if (!page_.fixed(k) && start[k] >= 0 && start[k] < height && order_[start[k]] < 0) order_[start[k]] = k;
    for (int k = 0, i = 0; k < height; ++k) {
      if (page_.fixed(k) || (start[k] >= 0 && start[k] < height && order_[start[k]] == k)) continue;
      while (order_[i] >= 0) ++i;
      order_[i] = k;
    }
  }

  void try_order() {
    const double value = each_row_of(order_, [](const FirstCopyMember&, int, int) {});
    if (value <= best_) return;
    best_ = value;
    for (int i = 0; i < page_.height(); ++i) best_order_[i] = order_[i];
  }

  // The value of an order of rows; calls take(member, row, column) for every item that counts.
  template <class Take>
  double each_row_of(const Buffer<int>& order, const Take& take) {
    page_.allow_tries();
    for (int t = 0; t < page_.items(); ++t) seen_[t] = false;
    double total = 0.0;
    for (int place = 0; place < page_.height(); ++place) {
      const int row = order[place];
      total += page_.row_value(row, place, [&](const FirstCopyMember& m) { return !seen_[m.item]; });
      for (const FirstCopyMember* m = page_.members(row); m < page_.members_end(row); ++m) seen_[m->item] = true;
      page_.each_column(row, place, [&](const FirstCopyMember& m, int col) { take(m, row, col); });
    }
    return total;
  }

  void write(int64_t first_row, int64_t first_item, const FirstCopyPages& out) {
    for (int place = 0; place < page_.height(); ++place) out.place[first_row + best_order_[place]] = place;
    for (int t = 0; t < page_.items(); ++t) out.item_row[first_item + t] = out.item_col[first_item + t] = -1;
    each_row_of(best_order_, [&](const FirstCopyMember& m, int row, int col) {
      out.item_row[first_item + m.item] = row;
      out.item_col[first_item + m.item] = col;
    });
  }

  // Searches for the best order, with few sets first; returns a bound on it.
  double search(double bound) {
    int most = all_.width;
    bounded_ = page_.places() > kFewPlaces || most < kNarrow;
    if (bounded_) {
      const double steps = bound_.begin_page();
      if (page_.live() > kMostLive || page_.places() > kMostPlaces || steps * FirstCopyBound::kSteps > kMostSteps)
        most = 0;
      most = int(std::min<double>(most, kMostSteps / (steps * page_.places())));
      if (most > 0) bound_.find_prices(best_);
    }
    for (int width = std::min(kNarrow, most); width > 0; width = std::min(width * kWider, most)) {
      const double dropped = search_layers(width);
      if (attains(dropped)) return best_;
      bound = std::min(bound, dropped);
      if (width == most) break;
    }
    return bound;
  }

  // The same with at most so many sets at each place; returns the best bound of those dropped.
  double search_layers(int width) {
    const int places = page_.places(), live = page_.live();
    layer_.reserve(int64_t(width) * (places + 1));
    begin_.reserve(places + 2);
    const int64_t most = int64_t(width) * (live + 1);
    next_.reserve(most);
    int64_t slots = 16;
    while (slots < 2 * most) slots *= 2;
    slot_.reserve(slots);
    double dropped = -1.0;
    layer_[0] = {0, fixed_value(0, 0), kInfinity, -1, -1};
    begin_[0] = 0;
    begin_[1] = 1;
    for (int depth = 0; depth < places; ++depth) {
      for (int64_t s = 0; s < slots; ++s) slot_[s] = -1;
      count_ = 0;
      for (int64_t s = begin_[depth]; s < begin_[depth + 1]; ++s) {
        if (s % kCheckEvery == 0) queue_.check_stop();
        expand(layer_[s], int(s - begin_[depth]), depth, slots);
      }
      if (count_ > width) {
        std::nth_element(next_.at(0), next_.at(width), next_.at(count_), [](const Above& a, const Above& b) {
          const double x = a.value + a.rest, y = b.value + b.rest;
          return x != y ? x > y : a.rows < b.rows;
        });
        for (int n = width; n < count_; ++n) dropped = std::max(dropped, next_[n].value + next_[n].rest);
        count_ = width;
      }
      for (int n = 0; n < count_; ++n) {
        Above& above = layer_[begin_[depth + 1] + n] = next_[n];
        above.value += fixed_value(above.rows, depth + 1);
      }
      begin_[depth + 2] = begin_[depth + 1] + count_;
    }
    if (count_ > 0) follow(begin_[places]);  // all rows are above then
    return dropped;
  }

  // The value of the fixed rows between two places to be filled.
  double fixed_value(uint64_t rows, int depth) {
    double total = 0.0;
    for (int row = depth == 0 ? 0 : page_.place(depth - 1) + 1; row < page_.place(depth); ++row)
      if (page_.fixed(row)) total += value(row, row, rows);
    return total;
  }

  double value(int row, int place, uint64_t above) {
    return page_.row_value(row, place,
                           [&](const FirstCopyMember& m) { return FirstCopyPage::remains(m, above, place); });
  }

  // Puts every row that is left on the next place.
  void expand(const Above& above, int index, int depth, int64_t slots) {
    int rows_above = 0;
    for (uint64_t rows = above.rows; rows; rows &= rows - 1) ++rows_above;
    double rest = kInfinity;
    if (bounded_) {
      rest = bound_.rest(above.rows, depth);
      if (attains(above.value + rest)) return;
    }
    const int place = page_.place(depth);
    for (int bit = 0; bit < page_.live(); ++bit) {
      if (above.rows >> bit & 1) continue;
      const double left = bounded_ ? rest - bound_.loss(bit) : 0.0;
      if (bounded_ && attains(above.value + left)) continue;
      const double gained = value(page_.live_row(bit), place, above.rows);
      add({above.rows | uint64_t(1) << bit, above.value + gained, left - gained, index, bit}, slots);
    }
    if (page_.places() - depth > page_.live() - rows_above) {
      const double left = bounded_ ? rest - bound_.loss(-1) : 0.0;
      if (!bounded_ || !attains(above.value + left)) add({above.rows, above.value, left, index, -1}, slots);
    }
  }

  // Keeps the better of two orders of the same rows.
  void add(const Above& above, int64_t slots) {
    int64_t s = int64_t((above.rows * kGolden) >> 20) & (slots - 1);
    while (slot_[s] >= 0 && next_[slot_[s]].rows != above.rows) s = (s + 1) & (slots - 1);
    if (slot_[s] < 0) {
      slot_[s] = count_;
      next_[count_++] = above;
      return;
    }
    Above& known = next_[slot_[s]];
    const double rest = std::min(known.rest, above.rest);
    if (above.value > known.value) known = above;
    known.rest = rest;
  }

  // Tries the order that led to the set on the last place.
  void follow(int64_t s) {
    for (int k = 0; k < page_.height(); ++k) start_[k] = -1;
    for (int depth = page_.places(); depth > 0; --depth) {
      if (layer_[s].bit >= 0) start_[page_.live_row(layer_[s].bit)] = page_.place(depth - 1);
      s = begin_[depth - 1] + layer_[s].parent;
    }
    order_by(start_.at(0));
    try_order();
  }

  static constexpr int kFewPlaces = 10;  // whose sets are all tried
  static constexpr int kMostPlaces = 256;
  static constexpr int kNarrow = 256, kWider = 16;
  static constexpr double kMostSteps = 0x1p30;  // of all bounds at one width: some tenths of a second
  const FirstCopySets& all_;
  WorkQueue& queue_;
  FirstCopySizes most_;
  FirstCopyPage page_;
  FirstCopyBound bound_;
  double best_ = -1.0;
  bool bounded_ = false;
  int count_ = 0;
  Buffer<int> order_, best_order_;  // by place: a row
  Buffer<int32_t> start_;           // by row: a place, or -1
  Buffer<bool> seen_;
  Buffer<Above> layer_{0}, next_{0};
  Buffer<int64_t> begin_{0};
  Buffer<int32_t> slot_{0};
};

}  // namespace
