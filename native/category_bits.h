// The categories that may stand on a column, each with a bit, so that a set of them is a number; and what sets of them
// a better page can begin with.
#pragma once

#include "lagrangian_bound.h"

namespace {

class CategoryBits {
 public:
  static constexpr int kMost = 63;  // one bit is left for the pinned ones, which count as one (ShowableItems)

  explicit CategoryBits(const CandidateSizes& most) : bit_(most.categories) {}

  // Gives a bit to every free category that has a column left; false: too many.
  bool read(const Candidates& set, const ItemTypes& types, const LagrangianBound& rows) {
    columns_ = set.columns();
    if (columns_ > kMostColumns) return false;
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
    for (int j = 0; j < columns_; ++j) closed_[j] = 0;
    for (int n = 0; n < count_; ++n)
      for (int j = columns_ - 1; j > 0 && rows.banned(category_[n], j); --j) closed_[j - 1] |= uint64_t(1) << n;
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

  // Whether a better page can begin with this set on columns 0 to j: those that must be shown still can, and if a
  // category is shown, so are those that contain it, which could take its place.
  bool may_go_on(uint64_t set, uint64_t needs, int j) const {
    const uint64_t missing = (must_ | needs) & ~set;
    return popcount(missing) <= columns_ - 1 - j && !(must_ & closed_[j] & ~set);
  }

 private:
  static constexpr int kMostColumns = 64;

  int columns_ = 0, count_ = 0;
  int category_[kMost];                        // by bit
  uint64_t containers_[kMost], twins_[kMost];  // by bit
  uint64_t must_ = 0;                          // categories that may not be left out
  uint64_t closed_[kMostColumns];              // by column: categories with no column left below it
  Buffer<int> bit_;                            // by free category
};

}  // namespace
