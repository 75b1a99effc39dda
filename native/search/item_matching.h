// The best cells for items when rows are fixed: a weighted matching of items with cells.
//
// A first choice (that of the rows before, and large gains first, each where it weighs most) is improved until no chain
// of moves helps. Chains are found by asking what each item could earn elsewhere, if the item it meets there moved on
// in turn (Bellman-Ford).
#pragma once

#include "core/buffer.h"
#include "core/simd.h"
#include "core/work_queue.h"
#include "search/candidates.h"

namespace {

class ItemMatching {
 public:
  ItemMatching(const CandidateSizes& most, WorkQueue& queue)
      : queue_(queue), order_(most.items), earns_(most.items), leads_(most.items), spot_(most.items),
        color_(most.items), gain_(most.items), first_cell_(most.categories + 1), depth_(most.categories),
        held_(most.categories), row_weight_(most.categories), weight_at_(most.categories), weight_(0), owner_(0),
        cell_category_(0), worth_(0), highest_(0), cell_gain_(0) {}

  void read(Candidates& set) {
    count_ = 0;
    set_ = &set;
    for (int t = 0; t < set.items(); ++t) {
      gain_[t] = set.gain(t);
      spot_[t] = -1;
      if (set.category_count(t) > 0) order_[count_++] = {set.gain(t), t};
    }
    sort_members(order_.at(0), order_.at(count_));
    int64_t size = 0;
    cells_ = 0;
    for (int a = 0; a < set.active(); ++a) {
      first_cell_[a] = cells_;
      depth_[a] = set.depth(a);
      cells_ += padded(set.depth(a));
      weight_at_[a] = size;
      size += int64_t(padded(set.depth(a))) * (a < set.free() ? set.places() : 1);
    }
    first_cell_[set.active()] = cells_;
    for (auto* values : {&owner_, &cell_category_}) values->reserve(cells_);
    for (auto* values : {&worth_, &highest_, &cell_gain_}) values->reserve(cells_);
    for (int a = 0; a < set.active(); ++a)
      for (int c = first_cell_[a]; c < first_cell_[a + 1]; ++c) cell_category_[c] = a;
    weight_.reserve(size);
    for (int a = 0; a < set.active(); ++a) {
      const RowTable& table = set.table(a);
      double* out = weight_.at(weight_at_[a]);
      for (int j = 0; j < (a < set.free() ? set.places() : 1); ++j)
        for (int r = 0; r < padded(set.depth(a)); ++r)
          *out++ = r < set.depth(a) ? table.weights_of_rank(r)[a < set.free() ? set.row(j) : set.pin(a)] : 0.0;
    }
  }

  // Categories stand on places of the set (-1: nowhere); a pinned one stands where it is pinned.
  double choose_quickly(const Candidates& set, const int* place) {
    put_categories(set, place);
    double total = 0.0;
    for (int n = 0; n < count_; ++n) total += order_[n].gain * take_cell(order_[n].item);
    return total;
  }

  // The same, but items stay in the category where they are, as long as it is shown.
  void choose_again(const Candidates& set, const int* place) {
    put_categories(set, place);
    for (int n = 0; n < count_; ++n) {
      int& spot = spot_[order_[n].item];
      const int a = spot < 0 ? -1 : cell_category_[spot];
      if (a >= 0 && row_weight_[a]) ++held_[a];
      else spot = -1;
    }
    for (int n = 0; n < count_; ++n)
      if (spot_[order_[n].item] < 0) take_cell(order_[n].item);
    settle(set);
  }

  int64_t members() const { return set_->memberships(); }

  // Makes the choice the best one; category gets the category of each item, or -1. Returns the work it took.
  int64_t improve(const Candidates& set, int* category) {
    top_ = count_ > 0 ? order_[0].gain : 0.0;
    passes_ = 0;
    for (int tries = 0; tries < 100000; ++tries) {
      if (tries % kCheckEvery == kCheckEvery - 1) queue_.check_stop();
      fill_cells(set);
      const int from = find_chain();
      if (from < 0) break;
      follow(from);
      settle(set);
    }
    for (int t = 0; t < set.items(); ++t) category[t] = -1;
    const int64_t steps = 8 * members() * (1 + passes_);
    for (int n = 0; n < count_; ++n)
      if (spot_[order_[n].item] >= 0) category[order_[n].item] = cell_category_[spot_[order_[n].item]];
    return steps;
  }

  // Prices of items at which, with these rows, no page is worth more than the improved one: the middle between the
  // lowest, which improving has left, and the highest such prices (linear programming duality).
  void find_prices(double* price) {
    for (int c = 0; c < cells_; ++c) {
      const int t = owner_[c];
      cell_gain_[c] = t < 0 ? 0.0 : gain_[t];
      highest_[c] = t < 0 ? -kInfinity : gain_[t] * weight_of(c);
    }
    const Lanes slack = fill(kSame * top_);
    bool changed = true;
    for (int pass = 0; changed && pass < 100; ++pass) {
      changed = false;
      for (int n = 0; n < count_; ++n) {
        const int s = order_[n].item;
        const Lanes gain = fill(order_[n].gain), current = fill(spot_[s] < 0 ? 0.0 : highest_[spot_[s]]);
        for (const int *k = set_->categories(s), *end = set_->categories_end(s); k < end; ++k) {
          const int a = *k;
          const double* weight = row_weight_[a];
          for (int c = first_cell_[a]; weight && c < first_cell_[a + 1]; c += kLanes, weight += kLanes) {
            const Lanes before = load(highest_.at(c));
            const Lanes most = current + (load(cell_gain_.at(c)) - gain) * load(weight);
            const Mask lower = most < before - slack;
            if (!any(lower)) continue;
            store(highest_.at(c), select(lower, most, before));
            changed = true;
          }
        }
      }
    }
    for (int n = 0; n < count_; ++n) {
      const int t = order_[n].item;
      price[t] = std::max(0.0, 0.5 * ((spot_[t] < 0 ? 0.0 : highest_[spot_[t]]) + earns_[t]));
    }
  }

  const Member* begin() const { return order_.at(0); }
  const Member* end() const { return order_.at(count_); }

 private:
  static constexpr double kSame = 1e-14;

  void put_categories(const Candidates& set, const int* place) {
    for (int a = 0; a < set.active(); ++a) {
      held_[a] = 0;
      const bool placed = a >= set.free() || place[a] >= 0;
      const int64_t row = a < set.free() ? int64_t(place[a]) * padded(depth_[a]) : 0;
      row_weight_[a] = placed ? weight_.at(weight_at_[a] + row) : nullptr;
    }
  }

  // The free cell that weighs most for an item, if there is one; returns its weight.
  double take_cell(int t) {
    double most = -1.0;
    int best = -1;
    for (const int *k = set_->categories(t), *end = set_->categories_end(t); k < end; ++k) {
      const int a = *k;
      if (!row_weight_[a] || held_[a] == depth_[a]) continue;
      const double w = row_weight_[a][held_[a]];
      if (w > most) most = w, best = a;
    }
    spot_[t] = best < 0 ? -1 : first_cell_[best] + held_[best]++;
    return best < 0 ? 0.0 : most;
  }

  void fill_cells(const Candidates& set) {
    for (int a = 0; a < set.active(); ++a)
      for (int c = first_cell_[a]; c < first_cell_[a + 1]; ++c)
        owner_[c] = -1, worth_[c] = c - first_cell_[a] < depth_[a] ? 0.0 : -kInfinity;
    for (int n = 0; n < count_; ++n) {
      const int t = order_[n].item, c = spot_[t];
      earns_[t] = 0.0;
      leads_[t] = -1;
      if (c < 0) continue;
      owner_[c] = t;
      worth_[c] = 0.0 - order_[n].gain * weight_of(c);
    }
  }

  double weight_of(int c) const { return row_weight_[cell_category_[c]][c - first_cell_[cell_category_[c]]]; }

  // Raises what items earn elsewhere until it holds; returns an item that had better move, or -1.
  int find_chain() {
    for (int pass = 0;; ++pass) {
      bool changed = false;
      ++passes_;
      for (int n = count_ - 1; n >= 0; --n) {
        const int s = order_[n].item, current = spot_[s];
        const double gain = order_[n].gain;
        double most = earns_[s] + kSame * top_;
        int best = -1;
        for (const int *k = set_->categories(s), *end = set_->categories_end(s); k < end; ++k) {
          const int a = *k, first = first_cell_[a], size = first_cell_[a + 1] - first;
          const double* weight = row_weight_[a];
          if (!weight) continue;
          for (int r = 0; r < size; r += kLanes) {
            const Lanes there = fill(gain) * load(weight + r) + load(worth_.at(first + r));
            if (!any(there > fill(most))) continue;
            most = largest(there);
            best = first + r + lowest_bit(bitmask(there == fill(most)));
          }
        }
        if (best < 0) continue;
        changed = true;
        earns_[s] = most;
        leads_[s] = best;
        if (current < 0) return s;
        worth_[current] = most - gain * weight_of(current);
        if (worth_[current] > kSame * top_) return s;
      }
      if (!changed) return -1;
      if (pass > 2) {
        queue_.check_stop();
        const int on_cycle = find_cycle();
        if (on_cycle >= 0) return on_cycle;
      }
    }
  }

  // An item whose chain of moves comes back to it.
  int find_cycle() {
    for (int n = 0; n < count_; ++n) color_[order_[n].item] = -1;
    for (int n = 0; n < count_; ++n) {
      int t = order_[n].item;
      while (t >= 0 && color_[t] < 0) {
        color_[t] = n;
        t = leads_[t] < 0 ? -1 : owner_[leads_[t]];
      }
      if (t >= 0 && color_[t] == n) return t;
    }
    return -1;
  }

  // Moves items along the chain from s: to a free cell, to an item that is left out, or round a cycle.
  void follow(int s) {
    for (int n = 0; n < count_; ++n) color_[order_[n].item] = -1;
    int item = s;  // a cycle on the way helps by itself: then start on it
    while (item >= 0 && color_[item] < 0) {
      color_[item] = 1;
      item = leads_[item] < 0 ? -1 : owner_[leads_[item]];
    }
    const int start = item >= 0 ? item : s;
    for (int t = start;;) {
      const int to = leads_[t];
      spot_[t] = to;
      if (to < 0) return;
      t = owner_[to];
      if (t < 0 || t == start) return;
    }
  }

  // Items of a category stand by gain again.
  void settle(const Candidates& set) {
    for (int a = 0; a < set.active(); ++a) held_[a] = 0;
    for (int n = 0; n < count_; ++n) {
      const int t = order_[n].item;
      if (spot_[t] < 0) continue;
      const int a = cell_category_[spot_[t]];
      spot_[t] = first_cell_[a] + held_[a]++;
    }
  }

  WorkQueue& queue_;
  const Candidates* set_ = nullptr;
  int count_ = 0, cells_ = 0;
  int64_t passes_ = 0;
  double top_ = 0.0;
  Buffer<Member> order_;  // items, largest gain first
  Buffer<double> earns_;  // by item: what it could earn elsewhere
  Buffer<int> leads_;     // and the cell where, or -1
  Buffer<int> spot_;      // its cell, or -1
  Buffer<int> color_;
  Buffer<double> gain_;
  Buffer<int> first_cell_, depth_, held_;
  Buffer<const double*> row_weight_;
  Buffer<int64_t> weight_at_;
  Buffer<double> weight_;  // by category, place and rank
  Buffer<int> owner_, cell_category_;
  Buffer<double> worth_;                // by cell: what its item would lose by leaving it, negated
  Buffer<double> highest_, cell_gain_;  // by cell: the highest price of its item, and its gain
};

}  // namespace
