// A displayed page whose repeated items count where they come first: its rows, and the best order inside a row.
#pragma once

#include <algorithm>
#include <climits>
#include <cmath>

#include "core/buffer.h"
#include "core/sort.h"
#include "score/row_tables.h"
#include "search/problems.h"

namespace {

constexpr int kMostLive = 64;  // rows that a set of rows can hold

// An item in a row that shows it.
struct FirstCopyMember {
  double gain;
  uint64_t rows;  // the live rows that show it
  int fixed;      // the first fixed row that shows it; kNoRow if none does
  int item;
  int extras;  // copies in this row beside the first
};
constexpr int kNoRow = INT_MAX;

// The largest numbers of a page.
struct FirstCopySizes {
  explicit FirstCopySizes(const FirstCopySets& all) {
    for (int64_t p = 0; p < all.count; ++p) {
      const int64_t begin = all.item_offsets[p], end = all.item_offsets[p + 1];
      items = std::max(items, end - begin);
      rows = std::max(rows, all.row_offsets[p + 1] - all.row_offsets[p]);
      members = std::max(members, all.item_row_offsets[end] - all.item_row_offsets[begin]);
    }
  }
  int64_t items = 0, rows = 0, members = 0;
};

class FirstCopyPage {
 public:
  FirstCopyPage(const FirstCopySets& all, const FirstCopySizes& most)
      : all_(all), tables_(all.weights, all.grid_rows, all.grid_cols), item_(most.items), rows_of_(most.items),
        fixed_of_(most.items), member_(most.members), begin_(most.rows + 1), next_(most.rows), bit_(most.rows),
        live_row_(most.rows), place_(most.rows), chosen_(all.grid_cols), column_(all.grid_cols), cell_(all.grid_cols),
        owner_(all.grid_cols), best_column_(all.grid_cols) {
    for (int64_t c = all.grid_cols; c < int64_t(all.grid_rows) * all.grid_cols; ++c)
      falls_ &= all.weights[c] <= all.weights[c - all.grid_cols];
  }

  void read(int64_t p) {
    first_row_ = all_.row_offsets[p];
    first_item_ = all_.item_offsets[p];
    height_ = int(all_.row_offsets[p + 1] - first_row_);
    items_ = int(all_.item_offsets[p + 1] - first_item_);
    exact_ = true;
    allow_tries();
    sort_items();
    number_rows();
    find_rows_of_items();
    fill_rows();
  }

  int height() const { return height_; }
  int items() const { return items_; }
  bool repeats() const { return repeats_; }  // an item is shown more than once
  bool fixed(int row) const { return all_.fixed[first_row_ + row]; }
  double scaled(double value) const { return std::ldexp(value, -exponent_); }  // to gains near 1
  double unscaled(double value) const { return std::ldexp(value, exponent_); }

  // Rows that may move and show something relevant, by number; the others that may move are all alike.
  int live() const { return live_; }
  int live_row(int bit) const { return live_row_[bit]; }
  // The places to be filled, from the top. Where every row is better than the one below, live rows are on top.
  int places() const { return places_; }
  int place(int n) const { return n < places_ ? place_[n] : height_; }

  const FirstCopyMember* members(int row) const { return member_.at(begin_[row]); }
  const FirstCopyMember* members_end(int row) const { return member_.at(begin_[row + 1]); }
  const RowTable& table(int row) { return tables_.of(slots(row)); }

  // Whether an item counts at a place or below it, once some live rows and the fixed ones are above.
  static bool remains(const FirstCopyMember& m, uint64_t above, int place) {
    return !(m.rows & above) && m.fixed >= place;
  }

  // The best value of a row on a place, by the members that count there.
  template <class Counts>
  double row_value(int row, int place, const Counts& counts) {
    const RowTable& table = this->table(row);
    double value = 0.0;
    int count = 0, extras = 0;
    for (const FirstCopyMember* m = members(row); m < members_end(row); ++m) {
      if (!counts(*m)) continue;
      value += m->gain * table.weights_of_rank(count)[place];
      extras += m->extras;
      chosen_[count++] = m;
    }
    count_ = count;
    return extras == 0 || fits_by_weight(row, place) ? value : search_columns(row, place);
  }

  // The column of every member that counted in the row last valued, in order.
  template <class Take>
  void each_column(int row, int place, const Take& take) {
    const bool searched = !fits_by_weight(row, place);
    for (int i = 0; i < count_; ++i) take(*chosen_[i], searched ? best_column_[i] : cell_[i]);
  }

  // Orders of the same rows get the same columns, whatever was tried before.
  void allow_tries() { tries_ = 0; }
  bool exact() const { return exact_; }  // no search inside a row was cut short

 private:
  int slots(int row) const { return all_.slots[first_row_ + row]; }

  // item_: those that gain something, largest first; gains are scaled by a power of two, so that no sum overflows.
  void sort_items() {
    const double* gain = all_.gains + first_item_;
    gaining_ = 0;
    double top = 0.0;
    for (int t = 0; t < items_; ++t)
      if (gain[t] > 0) item_[gaining_++] = t, top = std::max(top, gain[t]);
    std::sort(item_.at(0), item_.at(gaining_), LargerValue{gain});
    exponent_ = 0;
    if (top > 0) std::frexp(top, &exponent_);
  }

  void number_rows() {
    for (int k = 0; k < height_; ++k) begin_[k + 1] = 0;
    for (int n = 0; n < gaining_; ++n) each_row(item_[n], [&](int row, int) { ++begin_[row + 1]; });
    begin_[0] = live_ = places_ = 0;
    bool any_fixed = false;
    for (int k = 0; k < height_; ++k) {
      bit_[k] = -1;
      any_fixed |= fixed(k);
      if (!fixed(k)) place_[places_++] = k;
      if (!fixed(k) && begin_[k + 1] > 0) {
        bit_[k] = live_;
        live_row_[live_++] = k;
      }
      begin_[k + 1] += begin_[k];
      next_[k] = begin_[k];
    }
    if (falls_ && !any_fixed) places_ = live_;
  }

  void find_rows_of_items() {
    repeats_ = false;
    for (int n = 0; n < gaining_; ++n) {
      const int t = item_[n];
      rows_of_[t] = 0;
      fixed_of_[t] = kNoRow;
      int copies_shown = 0;
      each_row(t, [&](int row, int copies) {
        copies_shown += copies;
        if (fixed(row)) fixed_of_[t] = std::min(fixed_of_[t], row);
        else if (bit_[row] < kMostLive) rows_of_[t] |= uint64_t(1) << bit_[row];
      });
      repeats_ |= copies_shown > 1;
    }
  }

  void fill_rows() {
    for (int n = 0; n < gaining_; ++n) {
      const int t = item_[n];
      const double gain = std::ldexp(all_.gains[first_item_ + t], -exponent_);
      each_row(t,
               [&](int row, int copies) { member_[next_[row]++] = {gain, rows_of_[t], fixed_of_[t], t, copies - 1}; });
    }
  }

  template <class Visit>
  void each_row(int item, const Visit& visit) const {
    const int64_t* rows = all_.item_row_offsets + first_item_ + item;
    for (int64_t h = rows[0]; h < rows[1]; ++h) visit(all_.item_rows[h], all_.copies[h]);
  }

  // Puts the larger gains of chosen_ on the larger weights, and says whether their extra copies fit after them.
  bool fits_by_weight(int row, int place) {
    const double* weight = all_.weights + int64_t(place) * all_.grid_cols;
    const int cells = slots(row);
    rank_descending(weight, cells, cell_.at(0));
    for (int c = 0; c < cells; ++c) owner_[c] = -1;
    for (int i = 0; i < count_; ++i) owner_[cell_[i]] = i;
    return fits(cells);
  }

  // Whether the extra copies of the members placed so far fit into cells after them that no member has.
  bool fits(int cells) const {
    int free = 0, wanted = 0;
    for (int c = cells - 1; c >= 0; --c) {
      if (owner_[c] < 0) ++free;
      else if ((wanted += chosen_[owner_[c]]->extras) > free) return false;
    }
    return true;
  }

  // Tries the cells of every member, where extra copies keep the largest gains from the largest weights.
  double search_columns(int row, int place) {
    const double* weight = all_.weights + int64_t(place) * all_.grid_cols;
    const int cells = slots(row);
    // all members on the left, their copies on the right: not good, but allowed
    int next = 0;
    best_value_ = 0.0;
    for (int c = 0; c < cells; ++c) {
      owner_[c] = -1;
      if (cell_[c] >= count_) continue;
      best_column_[next] = cell_[c];
      best_value_ += chosen_[next++]->gain * weight[cell_[c]];
    }
    place_member(0, 0.0, weight, cells);
    return best_value_;
  }

  void place_member(int member, double value, const double* weight, int cells) {
    if (member == count_ && value > best_value_) {
      best_value_ = value;
      for (int i = 0; i < count_; ++i) best_column_[i] = column_[i];
    }
    if (member == count_) return;
    if (member == kMostSearched || ++tries_ > kMostTries) {
      exact_ = false;
      return;
    }
    double most = value;
    for (int i = member, c = 0; i < count_; ++c)
      if (owner_[cell_[c]] < 0) most += chosen_[i++]->gain * weight[cell_[c]];
    if (most <= best_value_) return;
    for (int c = 0; c < cells; ++c) {
      const int cell = cell_[c];
      if (owner_[cell] >= 0) continue;
      owner_[cell] = member;
      column_[member] = cell;
      if (fits(cells)) place_member(member + 1, value + chosen_[member]->gain * weight[cell], weight, cells);
      owner_[cell] = -1;
    }
  }

  static constexpr int kMostSearched = 256;   // members of a row: as deep as the search may go
  static constexpr int kMostTries = 1 << 20;  // inside the rows of one page
  const FirstCopySets& all_;
  RowTables tables_;
  bool falls_ = true;  // every weight is at least that of the row below
  int64_t first_row_ = 0, first_item_ = 0;
  int height_ = 0, items_ = 0, gaining_ = 0, exponent_ = 0, live_ = 0, places_ = 0;
  bool repeats_ = false, exact_ = true;
  Buffer<int> item_;
  Buffer<uint64_t> rows_of_;  // by item
  Buffer<int> fixed_of_;
  Buffer<FirstCopyMember> member_;  // row by row, largest gains first
  Buffer<int> begin_, next_, bit_, live_row_, place_;
  int count_ = 0, tries_ = 0;  // of the row being valued
  double best_value_ = 0.0;
  Buffer<const FirstCopyMember*> chosen_;
  Buffer<int> column_;       // by member chosen
  Buffer<int> cell_;         // by weight, largest first
  Buffer<int> owner_;        // by cell: the member placed there, or -1
  Buffer<int> best_column_;  // by member chosen
};

}  // namespace
