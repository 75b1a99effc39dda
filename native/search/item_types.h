// Items that are alike, with the same gain in the same categories: whatever a page does with one of them it could do
// with another, so they share one price.
#pragma once

#include <algorithm>

#include "core/random.h"
#include "search/candidates.h"

namespace {

class ItemTypes {
 public:
  explicit ItemTypes(const CandidateSizes& most)
      : key_(most.items), type_(most.items), representative_(most.items), copies_(most.items),
        member_first_(most.categories + 1), member_(most.members) {}

  void read(const Candidates& set) {
    set_ = &set;
    int items = 0;
    for (int t = 0; t < set.items(); ++t) {
      if (set.category_count(t) == 0) continue;
      uint64_t hash = 0;
      for (const int* a = set.categories(t); a < set.categories_end(t); ++a) hash = (hash + uint64_t(*a) + 1) * kGolden;
      key_[items++] = {set.gain(t), hash ^ (hash >> 29), t};
    }
    std::sort(key_.at(0), key_.at(items), LargerAndAlike());
    count_ = 0;
    for (int n = 0; n < items; ++n) {
      const int t = key_[n].item;
      if (n == 0 || !alike(key_[n - 1], key_[n])) {
        representative_[count_] = t;
        copies_[count_++] = 0;
      }
      ++copies_[count_ - 1];
      type_[t] = count_ - 1;
    }
    list_members();
  }

  int count() const { return count_; }  // types, those with large gains first
  int of_item(int t) const { return type_[t]; }
  double gain(int y) const { return set_->gain(representative_[y]); }
  int copies(int y) const { return copies_[y]; }
  const int* categories(int y) const { return set_->categories(representative_[y]); }
  const int* categories_end(int y) const { return set_->categories_end(representative_[y]); }
  bool shared(int y) const { return categories_end(y) - categories(y) > 1; }  // must choose between categories

  // Whether category a has the slots and all members of category b, so that it could stand in for it.
  bool contains(int a, int b) const {
    if (set_->slots(a) < set_->slots(b) || set_->size(a) < set_->size(b)) return false;
    const int *y = members(a), *end = members_end(a);
    for (const int* wanted = members(b); wanted < members_end(b); ++wanted) {
      while (y < end && *y < *wanted) ++y;
      if (y == end || *y != *wanted) return false;
    }
    return true;
  }

  // The types in an active category, those with large gains first.
  const int* members(int a) const { return member_.at(member_first_[a]); }
  const int* members_end(int a) const { return member_.at(member_first_[a + 1]); }

 private:
  struct Key {
    double gain;
    uint64_t categories;  // a hash
    int item;
  };
  struct LargerAndAlike {
    bool operator()(const Key& a, const Key& b) const {
      if (a.gain != b.gain) return a.gain > b.gain;
      return a.categories != b.categories ? a.categories < b.categories : a.item < b.item;
    }
  };

  bool alike(const Key& a, const Key& b) const {
    return a.gain == b.gain && a.categories == b.categories &&
           std::equal(set_->categories(a.item), set_->categories_end(a.item), set_->categories(b.item),
                      set_->categories_end(b.item));
  }

  void list_members() {
    for (int a = 0; a <= set_->active(); ++a) member_first_[a] = 0;
    for (int y = 0; y < count_; ++y)
      for (const int* a = categories(y); a < categories_end(y); ++a) ++member_first_[*a + 1];
    for (int a = 0; a < set_->active(); ++a) member_first_[a + 1] += member_first_[a];
    for (int y = 0; y < count_; ++y)
      for (const int* a = categories(y); a < categories_end(y); ++a) member_[member_first_[*a]++] = y;
    for (int a = set_->active(); a > 0; --a) member_first_[a] = member_first_[a - 1];
    member_first_[0] = 0;
  }

  const Candidates* set_ = nullptr;
  int count_ = 0;
  Buffer<Key> key_;
  Buffer<int> type_;                     // by item
  Buffer<int> representative_, copies_;  // by type
  Buffer<int> member_first_, member_;    // by active category
};

}  // namespace
