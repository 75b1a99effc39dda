// One problem of candidate_ideals, read into tables: categories that hold a candidate, their members by gain, and the
// weights each of them would meet on every row it may stand on.
#pragma once

#include <algorithm>

#include "core/buffer.h"
#include "core/simd.h"
#include "score/row_tables.h"
#include "search/problems.h"

namespace {

struct Member {
  double gain;
  int item;
};

// A type of our own: see Descending. Equal gains keep the order of the items.
struct LargerFirst {
  bool operator()(const Member& a, const Member& b) const {
    return a.gain != b.gain ? a.gain > b.gain : a.item < b.item;
  }
};

inline void sort_members(Member* begin, Member* end) {
  if (end - begin > 24) return std::sort(begin, end, LargerFirst());
  for (Member* next = begin + 1; next < end; ++next) {
    const Member member = *next;
    Member* to = next;
    for (; to > begin && LargerFirst()(member, to[-1]); --to) *to = to[-1];
    *to = member;
  }
}

// The largest numbers that the problems of a call come to, for fixed buffers.
struct CandidateSizes {
  explicit CandidateSizes(const CandidateSets& all) {
    for (int64_t p = 0; p < all.count; ++p) {
      const int64_t here = all.item_offsets[p + 1] - all.item_offsets[p];
      const int64_t names = all.category_offsets[p + 1] - all.category_offsets[p];
      const int64_t held =
          all.item_category_offsets[all.item_offsets[p + 1]] - all.item_category_offsets[all.item_offsets[p]];
      items = int(std::max<int64_t>(items, here));
      labels = int(std::max<int64_t>(labels, names));
      members = int(std::max<int64_t>(members, held));
      categories = int(std::max<int64_t>(categories, std::min(names, held)));
    }
  }
  int items = 0, labels = 0, members = 0;
  int categories = 0;  // those that can hold a candidate
};

// Active categories are those with candidates and slots: first the free ones, then the pinned.
class Candidates {
 public:
  Candidates(const CandidateSets& all, const CandidateSizes& most)
      : tables_(all.weights, all.grid_rows, all.grid_cols), count_(most.labels + 1), active_(most.labels),
        label_(most.categories), pin_(most.categories), slots_(most.categories), first_(most.categories + 1),
        next_(most.categories), member_(most.members), category_count_(most.items), item_first_(most.items + 1),
        item_next_(most.items), item_category_(most.members), closed_(all.grid_rows), place_(padded(all.grid_rows)) {
    for (int c = 0; c < all.grid_rows * all.grid_cols; ++c) heaviest_ = std::max(heaviest_, all.weights[c]);
  }

  void read(const CandidateSets& all, int64_t p) {
    gain_ = all.gains + all.item_offsets[p];
    items_ = int(all.item_offsets[p + 1] - all.item_offsets[p]);
    labels_ = int(all.category_offsets[p + 1] - all.category_offsets[p]);
    const int32_t* slots = all.slots + all.category_offsets[p];
    const int32_t* pinned = all.pinned + all.category_offsets[p];
    category_at_ = all.item_category_offsets + all.item_offsets[p];
    category_ = all.item_categories;

    for (int k = 0; k < labels_; ++k) count_[k] = 0;
    coupled_ = 0;
    double top = 0.0;
    for (int t = 0; t < items_; ++t) {
      category_count_[t] = 0;
      if (!(gain_[t] > 0)) continue;
      top = std::max(top, gain_[t]);
      for (int64_t h = category_at_[t]; h < category_at_[t + 1]; ++h)
        if (slots[category_[h]] > 0) ++count_[category_[h]], ++category_count_[t];
      coupled_ += category_count_[t] > 1;
    }
    active_count_ = free_ = 0;
    int held = 0;
    for (int pass = 0; pass < 2; ++pass) {
      for (int k = 0; k < labels_; ++k) {
        if (pass == 0) active_[k] = -1;
        if (count_[k] == 0 || (pinned[k] >= 0) != (pass == 1)) continue;
        const int a = active_count_++;
        active_[k] = a;
        label_[a] = k;
        pin_[a] = pinned[k];
        slots_[a] = std::min<int>(slots[k], tables_.cols());
        first_[a] = next_[a] = held;
        held += count_[k];
      }
      if (pass == 0) free_ = active_count_;
    }
    first_[active_count_] = held;
    for (int t = 0; t < items_; ++t) {
      if (category_count_[t] == 0) continue;
      for (int64_t h = category_at_[t]; h < category_at_[t + 1]; ++h)
        if (active_[category_[h]] >= 0) member_[next_[active_[category_[h]]]++] = {gain_[t], t};
    }
    for (int a = 0; a < active_count_; ++a) sort_members(member_.at(first_[a]), member_.at(first_[a + 1]));
    too_large_ = !(held * top * heaviest_ < 1e300);
    find_places(pinned, all.open[p]);
  }

  // For categories(): only where items must choose.
  void list_categories() {
    int held = 0;
    for (int t = 0; t < items_; ++t) {
      item_first_[t] = item_next_[t] = held;
      held += category_count_[t];
    }
    item_first_[items_] = held;
    for (int a = 0; a < active_count_; ++a)
      for (const Member* m = members(a); m < members_end(a); ++m) item_category_[item_next_[m->item]++] = a;
  }
  // The active categories of an item.
  const int* categories(int t) const { return item_category_.at(item_first_[t]); }
  const int* categories_end(int t) const { return item_category_.at(item_first_[t + 1]); }
  int64_t memberships() const { return item_first_[items_]; }

  int items() const { return items_; }
  int labels() const { return labels_; }
  int active() const { return active_count_; }
  int free() const { return free_; }
  int coupled() const { return coupled_; }       // items that must choose between categories
  bool too_large() const { return too_large_; }  // gains and weights that could not be added up
  double gain(int t) const { return gain_[t]; }
  int category_count(int t) const { return category_count_[t]; }
  int label(int a) const { return label_[a]; }
  int pin(int a) const { return pin_[a]; }
  int slots(int a) const { return slots_[a]; }
  int size(int a) const { return first_[a + 1] - first_[a]; }
  int depth(int a) const { return std::min(size(a), slots_[a]); }  // cells it can fill
  const Member* members(int a) const { return member_.at(first_[a]); }
  const Member* members_end(int a) const { return member_.at(first_[a + 1]); }
  int member_offset(int a) const { return first_[a]; }
  RowTable& table(int a) { return tables_.of(slots_[a]); }

  // Places: the rows that free categories may stand on, by number.
  int places() const { return places_; }
  int row(int place) const { return place_[place]; }
  bool top_rows() const { return top_rows_; }  // place j is row j

 private:
  void find_places(const int32_t* pinned, int open) {
    for (int i = 0; i < tables_.rows(); ++i) closed_[i] = false;
    for (int k = 0; k < labels_; ++k)
      if (pinned[k] >= 0 && pinned[k] < tables_.rows()) closed_[pinned[k]] = true;
    bool falls = true;  // then the first rows are the best for everyone
    for (int a = 0; a < free_ && falls; ++a) falls = table(a).falls;
    const int wanted = falls ? free_ : tables_.rows();
    places_ = 0;
    top_rows_ = true;
    for (int i = 0; i < std::min(open, tables_.rows()) && places_ < wanted; ++i) {
      if (closed_[i]) continue;
      top_rows_ &= places_ == i;
      place_[places_++] = i;
    }
  }

  RowTables tables_;
  double heaviest_ = 0.0;
  const double* gain_ = nullptr;
  const int64_t* category_at_ = nullptr;
  const int32_t* category_ = nullptr;
  int items_ = 0, labels_ = 0, active_count_ = 0, free_ = 0, coupled_ = 0, places_ = 0;
  bool too_large_ = false, top_rows_ = true;
  Buffer<int> count_, active_;                      // by label
  Buffer<int> label_, pin_, slots_, first_, next_;  // by active category
  Buffer<Member> member_;
  Buffer<int> category_count_;  // by item: categories with room
  Buffer<int> item_first_, item_next_, item_category_;
  Buffer<bool> closed_;
  Buffer<int> place_;
};

// A page under construction or found: the row of each active category (-1: none), and of each item.
struct Arrangement {
  Arrangement(const CandidateSizes& most) : row(most.categories), category(most.items) {}
  Buffer<int> row, category;
};

// The worth of an arrangement, always added up in the same order; `everywhere` counts members in all their categories.
inline double worth(Candidates& set, const Arrangement& page, bool everywhere) {
  double total = 0.0;
  for (int a = 0; a < set.active(); ++a) {
    if (page.row[a] < 0) continue;
    const RowTable& table = set.table(a);
    double sum = 0.0;
    int rank = 0;
    for (const Member* m = set.members(a); m < set.members_end(a) && rank < set.slots(a); ++m)
      if (everywhere || page.category[m->item] == a) sum += m->gain * table.weights_of_rank(rank++)[page.row[a]];
    total += sum;
  }
  return total;
}

}  // namespace
