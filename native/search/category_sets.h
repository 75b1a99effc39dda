// Sets of categories as bits of a number: what sets a better page can begin with, and how many items they can show.
#pragma once

#include "core/simd.h"
#include "search/item_types.h"
#include "search/lagrangian_bound.h"

namespace {

// The categories that may stand on a place, each with a bit, and which sets of them a better page can begin with.
class CategoryBits {
 public:
  static constexpr int kMost = 63;  // one bit is left for the pinned ones, which count as one (ShowableItems)

  explicit CategoryBits(const CandidateSizes& most) : bit_(most.categories) {}

  // Gives a bit to every free category that has a place left; false: too many.
  bool read(const Candidates& set, const ItemTypes& types, const LagrangianBound& rows) {
    places_ = set.places();
    if (places_ > kMostPlaces) return false;
    count_ = 0;
    must_ = 0;
    for (int a = 0; a < set.free(); ++a) {
      bit_[a] = -1;
      if (rows.open(a) == 0) continue;
      if (count_ == kMost) return false;
      if (!rows.may_be_out(a)) must_ |= uint64_t(1) << count_;
      bit_[a] = count_;
      category_[count_++] = a;
    }
    for (int j = 0; j < places_; ++j) closed_[j] = 0;
    for (int n = 0; n < count_; ++n)
      for (int j = places_ - 1; j > 0 && rows.banned(category_[n], j); --j) closed_[j - 1] |= uint64_t(1) << n;
    for (int n = 0; n < count_; ++n) {
      containers_[n] = twins_[n] = 0;
      for (int other = 0; other < count_; ++other) {
        if (other == n || !types.contains(category_[other], category_[n])) continue;
        const bool twins = types.contains(category_[n], category_[other]);
        if (!twins || other < n) containers_[n] |= uint64_t(1) << other;
        if (twins && other < n) twins_[n] |= uint64_t(1) << other;
      }
    }
    return true;
  }

  int count() const { return count_; }
  int category(int n) const { return category_[n]; }
  int of(int a) const { return bit_[a]; }                      // of a free category, or -1
  uint64_t containers(int n) const { return containers_[n]; }  // categories that contain it
  uint64_t twins(int n) const { return twins_[n]; }            // equal ones that come first

  // Whether a better page can begin with this set on places 0 to j: those that must be shown still can, and if a
  // category is shown, so are those that contain it, which could take its place.
  bool may_go_on(uint64_t set, uint64_t needs, int j) const {
    const uint64_t missing = (must_ | needs) & ~set;
    return popcount(missing) <= places_ - 1 - j && !(must_ & closed_[j] & ~set);
  }

 private:
  static constexpr int kMostPlaces = 64;

  int places_ = 0, count_ = 0;
  int category_[kMost];                        // by bit
  uint64_t containers_[kMost], twins_[kMost];  // by bit
  uint64_t must_ = 0;                          // categories that may not be left out
  uint64_t closed_[kMostPlaces];               // by place: categories with no place left below it
  Buffer<int> bit_;                            // by free category
};

// How many items categories can show together, each item once and each category as many as it has slots: a maximum
// flow, from the largest gains on, so that one run counts every level of gain.
class ShowableItems {
 public:
  explicit ShowableItems(const CandidateSizes& most) : mask_(most.items), node_mask_(most.items), shown_(0) {}

  // Free categories have bits (-1: none); of `free` on, pinned ones are always shown, and stand for one.
  void read(const Candidates& set, const ItemTypes& types, const int* level, const CategoryBits& bits) {
    types_ = &types;
    level_ = level;
    pinned_slots_ = 0;
    for (int a = 0; a < set.active(); ++a) {
      if (a >= set.free()) pinned_slots_ += set.slots(a);
      else if (bits.of(a) >= 0) slots_[bits.of(a)] = set.slots(a);
    }
    for (int y = 0; y < types.count(); ++y) {
      mask_[y] = {0, false};
      for (const int* a = types.categories(y); a < types.categories_end(y); ++a)
        if (*a >= set.free()) mask_[y].pinned = true;
        else if (bits.of(*a) >= 0) mask_[y].bits |= uint64_t(1) << bits.of(*a);
    }
    shown_.reserve(int64_t(types.count()) * kNodes);
  }

  // By level: the items of at least that level that some category of the set has.
  void count_members(uint64_t set, int levels, int64_t* count) const {
    for (int l = 0; l < levels; ++l) count[l] = 0;
    for (int y = 0; y < types_->count(); ++y)
      if (mask_[y].pinned || (mask_[y].bits & set)) count[level_[y]] += types_->copies(y);
    for (int l = 1; l < levels; ++l) count[l] += count[l - 1];
  }

  // By level: how many of these the categories of the set can show. Returns the work it took.
  int64_t count(uint64_t set, int levels, int64_t* count) {
    start(set);
    for (int l = 0; l < levels; ++l) count[l] = 0;
    for (int y = 0; y < types_->count(); ++y) count[level_[y]] += show(y, set);
    for (int l = 1; l < levels; ++l) count[l] += count[l - 1];
    return int64_t(types_->count()) * (nodes_ + 16);
  }

 private:
  static constexpr int kNodes = CategoryBits::kMost + 1;

  struct Mask {
    uint64_t bits;
    bool pinned;
  };

  // Nodes are the categories of the set, and one for all pinned ones.
  void start(uint64_t set) {
    nodes_ = 0;
    for (uint64_t rest = set; rest; rest &= rest - 1) {
      const int bit = lowest_bit(rest);
      node_[bit] = nodes_;
      room_[nodes_++] = slots_[bit];
    }
    pinned_node_ = pinned_slots_ > 0 ? nodes_ : -1;
    if (pinned_node_ >= 0) room_[nodes_++] = pinned_slots_;
    for (int k = 0; k < nodes_; ++k) {
      movable_[k] = 0;
      for (int to = 0; to < nodes_; ++to) moves_[k][to] = 0;
    }
    dead_ = 0;
  }

  // Shows as many copies of a type as it can; items shown before move on where that helps.
  int64_t show(int y, uint64_t set) {
    uint64_t mask = 0;
    for (uint64_t rest = mask_[y].bits & set; rest; rest &= rest - 1) mask |= uint64_t(1) << node_[lowest_bit(rest)];
    if (mask_[y].pinned && pinned_node_ >= 0) mask |= uint64_t(1) << pinned_node_;
    node_mask_[y] = mask;
    for (int k = 0; k < nodes_; ++k) shown(y, k) = 0;
    int64_t left = types_->copies(y);
    for (uint64_t rest = mask; rest && left > 0; rest &= rest - 1) {
      const int k = lowest_bit(rest);
      const int64_t copies = std::min(left, room_[k]);
      if (copies == 0) continue;
      add(y, k, copies);
      room_[k] -= copies;
      left -= copies;
    }
    for (; left > 0 && (mask & ~dead_) && make_room(mask); --left) add(y, entry_, 1);
    return types_->copies(y) - left;
  }

  int& shown(int y, int k) { return shown_[int64_t(y) * kNodes + k]; }

  void add(int y, int k, int64_t copies) {
    shown(y, k) += int(copies);
    for (uint64_t rest = node_mask_[y]; rest; rest &= rest - 1) {
      const int to = lowest_bit(rest);
      moves_[k][to] += copies;
      if (moves_[k][to] > 0) movable_[k] |= uint64_t(1) << to;
      else movable_[k] &= ~(uint64_t(1) << to);
    }
  }

  // Frees room in one of these nodes (entry_) by moving items on towards a node with room. If none can be reached,
  // that will never change for the nodes that were.
  bool make_room(uint64_t mask) {
    uint64_t reached = mask, waiting = mask;
    for (uint64_t rest = mask; rest; rest &= rest - 1) from_[lowest_bit(rest)] = -1;
    while (waiting) {
      const int k = lowest_bit(waiting);
      waiting &= waiting - 1;
      if (room_[k] > 0) return move_along(k);
      for (uint64_t next = movable_[k] & ~reached; next; next &= next - 1) from_[lowest_bit(next)] = k;
      waiting |= movable_[k] & ~reached;
      reached |= movable_[k];
    }
    dead_ |= reached;
    return false;
  }

  bool move_along(int to) {
    --room_[to];
    for (int k = from_[to]; k >= 0; to = k, k = from_[k]) {
      int y = 0;
      while (shown(y, k) == 0 || !(node_mask_[y] >> to & 1)) ++y;
      add(y, k, -1);
      add(y, to, 1);
    }
    entry_ = to;
    return true;
  }

  const ItemTypes* types_ = nullptr;
  const int* level_ = nullptr;
  int nodes_ = 0, pinned_node_ = -1, entry_ = 0;
  int64_t pinned_slots_ = 0;
  uint64_t dead_ = 0;  // nodes that are full and whose items cannot move on
  int64_t slots_[CategoryBits::kMost] = {};
  int node_[CategoryBits::kMost] = {}, from_[kNodes] = {};
  int64_t room_[kNodes] = {};
  uint64_t movable_[kNodes] = {};       // by node: where some item of it could move
  int64_t moves_[kNodes][kNodes] = {};  // how many
  Buffer<Mask> mask_;                   // by type: its categories
  Buffer<uint64_t> node_mask_;          // by type
  Buffer<int> shown_;                   // by type and node
};

}  // namespace
