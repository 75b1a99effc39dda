// The best homes of items when rows are fixed: a matching of items with cells, by shortest augmenting paths.
//
// Items come one by one; each is matched along the cheapest chain of moves. What an item could still earn elsewhere is
// its price: with these prices, each row's best choice of items is the one made (linear programming duality).
#pragma once

#include "buffer.h"
#include "candidates.h"

namespace {

class Matching {
 public:
  explicit Matching(const CandidateSizes& most)
      : order_(most.items), spot_(most.items), price_(most.items), home_first_(most.items + 1), home_next_(most.items),
        home_(most.members), first_cell_(most.categories + 1), weight_(most.members), cost_(most.members),
        owner_(most.members), category_(most.members), distance_(most.members), from_(most.members), state_(most.members),
        reached_(most.members), scanned_(most.members) {}

  void read(const Candidates& set) {
    count_ = 0;
    int held = 0;
    for (int t = 0; t < set.items(); ++t) {
      home_first_[t] = home_next_[t] = held;
      held += set.homes(t);
      if (set.homes(t) > 0) order_[count_++] = {set.gain(t), t};
    }
    home_first_[set.items()] = held;
    for (int a = 0; a < set.active(); ++a)
      for (const Member* m = set.members(a); m < set.members_end(a); ++m) home_[home_next_[m->item]++] = a;
    sort_members(order_.at(0), order_.at(count_));
  }

  // Best homes for page.row; writes page.home.
  void solve(Candidates& set, Arrangement& page) {
    cells_ = 0;
    for (int a = 0; a < set.active(); ++a) {
      first_cell_[a] = cells_;
      if (page.row[a] < 0) continue;
      const RowTable& table = set.table(a);
      for (int r = 0; r < set.depth(a); ++r, ++cells_) {
        weight_[cells_] = table.weights_of_rank(r)[page.row[a]];
        cost_[cells_] = 0.0;
        owner_[cells_] = -1;
        category_[cells_] = a;
        state_[cells_] = kUnseen;
      }
    }
    first_cell_[set.active()] = cells_;
    for (int n = 0; n < count_; ++n) match(order_[n].item, order_[n].gain, set);
    for (int t = 0; t < set.items(); ++t)
      page.home[t] = set.homes(t) > 0 && spot_[t] >= 0 ? category_[spot_[t]] : -1;
  }

  double price(int item) const { return price_[item]; }

 private:
  enum State : uint8_t { kUnseen, kOpen, kDone };

  void match(int start, double gain, const Candidates& set) {
    int reached = 0, scanned = 0;
    double end = 0.0;  // the cheapest way to end: at first, to leave this item out
    int last = -1, dropped = start;
    const auto relax = [&](int item, double g, double base) {
      for (int h = home_first_[item]; h < home_first_[item + 1]; ++h)
        for (int c = first_cell_[home_[h]]; c < first_cell_[home_[h] + 1]; ++c) {
          if (state_[c] == kDone) continue;
          const double d = base + cost_[c] - g * weight_[c];
          if (state_[c] == kUnseen) {
            state_[c] = kOpen;
            reached_[reached++] = c;
          } else if (!(d < distance_[c])) {
            continue;
          }
          distance_[c] = d;
          from_[c] = item;
        }
    };
    relax(start, gain, 0.0);
    for (;;) {
      int next = -1;
      for (int r = 0; r < reached; ++r)
        if (state_[reached_[r]] == kOpen && (next < 0 || distance_[reached_[r]] < distance_[next])) next = reached_[r];
      if (next < 0 || distance_[next] >= end) break;
      state_[next] = kDone;
      scanned_[scanned++] = next;
      const int item = owner_[next];
      if (item < 0) {
        end = distance_[next];
        last = next;
        dropped = -1;
        break;
      }
      if (distance_[next] + price_[item] < end) {
        end = distance_[next] + price_[item];
        last = next;
        dropped = item;
      }
      relax(item, set.gain(item), distance_[next] + price_[item]);
    }
    price_[start] = 0.0 - end;
    for (int s = 0; s < scanned; ++s) {
      const double rise = end - distance_[scanned_[s]];
      if (!(rise > 0)) continue;
      cost_[scanned_[s]] += rise;
      price_[owner_[scanned_[s]]] -= rise;
    }
    if (dropped >= 0) {
      spot_[dropped] = -1;
      price_[dropped] = 0.0;
    }
    while (last >= 0) {
      const int item = from_[last];
      const int left = item == start ? -1 : spot_[item];
      owner_[last] = item;
      spot_[item] = last;
      last = left;
    }
    for (int r = 0; r < reached; ++r) state_[reached_[r]] = kUnseen;
  }

  int count_ = 0, cells_ = 0;
  Buffer<Member> order_;  // items, largest gain first
  Buffer<int> spot_;      // by item: its cell, or -1
  Buffer<double> price_;
  Buffer<int> home_first_, home_next_, home_;
  Buffer<int> first_cell_;
  Buffer<double> weight_, cost_;  // by cell; cost is what its item pays for it
  Buffer<int> owner_, category_;
  Buffer<double> distance_;
  Buffer<int> from_;
  Buffer<uint8_t> state_;
  Buffer<int> reached_, scanned_;
};

}  // namespace
