// An upper bound on all pages: counting an item costs its price, wherever it is counted, and prices are paid back once.
//
// Then rows no longer compete for items: each category has a best choice of members for every row, and the best rows
// are an assignment. Any prices of 0 or more give a bound (Lagrangian duality).
#pragma once

#include "assignment.h"
#include "candidates.h"

namespace {

// A free category chooses among the columns of the set; with more categories than columns it may also be left out,
// which is one more choice. Columns are never left empty then: a category more does no harm.
class LagrangianBound {
 public:
  LagrangianBound(const CandidateSets& all, const CandidateSizes& most, Pieces& pieces)
      : assignment_(pieces), weight_at_(most.categories), weight_(0), banned_(0), open_(most.categories),
        slot_(most.categories), value_((all.grid_cols + 1) * kLanes), one_(std::max(all.grid_cols + 1, kLanes)),
        taken_(0), used_(most.items), utility_(most.categories) {}

  void read(Candidates& set) {
    columns_ = set.columns();
    crowded_ = set.free() > columns_;
    lanes_ = padded(columns_);
    int64_t size = 0, widest = 0;
    for (int a = 0; a < set.active(); ++a) {
      weight_at_[a] = size;
      size += int64_t(set.depth(a)) * (a < set.free() ? lanes_ : kLanes);
      widest = std::max<int64_t>(widest, int64_t(set.size(a)) * set.depth(a));
    }
    weight_.reserve(size);
    taken_.reserve(widest);
    banned_.reserve(int64_t(set.free()) * choices());
    for (int64_t at = 0; at < int64_t(set.free()) * choices(); ++at) banned_[at] = false;
    for (int a = 0; a < set.free(); ++a) open_[a] = columns_;
    for (int a = 0; a < set.active(); ++a) {
      const RowTable& table = set.table(a);
      double* out = weight_.at(weight_at_[a]);
      for (int r = 0; r < set.depth(a); ++r) {
        const double* from = table.weights_of_rank(r);
        const bool free = a < set.free();
        for (int j = 0; j < (free ? lanes_ : kLanes); ++j)
          *out++ = !free ? (j == 0 ? from[set.pin(a)] : 0.0) : j < columns_ ? from[set.row(j)] : 0.0;
      }
    }
  }

  int choices() const { return columns_ + crowded_; }
  int out() const { return columns_; }  // the choice of a category that is left out
  bool banned(int a, int choice) const { return banned_[int64_t(a) * choices() + choice]; }
  int open(int a) const { return open_[a]; }  // columns left to it
  void ban(int a, int choice, bool on = true) {
    banned_[int64_t(a) * choices() + choice] = on;
    if (choice < columns_) open_[a] += on ? -1 : 1;
  }

  // The bound at these prices, -infinity where bans leave no page; column gets the columns that reach it (-1: left
  // out).
  double bound(const Candidates& set, const double* price, double forbidden, int* column) {
    double total = 0.0;
    for (int t = 0; t < set.items(); ++t)
      if (set.category_count(t) > 1) total += price[t];
    for (int a = set.free(); a < set.active(); ++a) {
      choose(set, a, price, kLanes, one_.at(0));
      total += one_[0];
    }
    int placed = 0;  // categories that are not left out for good
    for (int a = 0; a < set.free(); ++a) {
      slot_[a] = open_[a] > 0 ? placed++ : -1;
      column[a] = -1;
    }
    if (placed < (crowded_ ? columns_ : set.free())) return -kInfinity;
    if (std::max(placed, columns_) == 0) return total;
    assignment_.reserve(placed, columns_);
    for (int a = 0; a < set.free(); ++a) {
      if (slot_[a] < 0) continue;
      double* score = assignment_.scores_of(slot_[a]);
      choose(set, a, price, lanes_, score);
      const double outside = crowded_ && banned(a, out()) ? forbidden : 0.0;
      for (int j = columns_; j < padded(assignment_.columns()); ++j) score[j] = outside;
      if (open_[a] < columns_)
        for (int j = 0; j < columns_; ++j)
          if (banned(a, j)) score[j] = forbidden;
    }
    assignment_.add_dummies(placed);
    assignment_.solve();
    return total + dual(set, placed, column);
  }

  // How often each item is counted where the last bound was reached.
  void count_used(const Candidates& set, const double* price, const int* column) {
    for (int t = 0; t < set.items(); ++t) used_[t] = 0;
    for (int a = 0; a < set.active(); ++a)
      if (a >= set.free() || column[a] >= 0) mark(set, a, price, a < set.free() ? column[a] : 0);
  }
  int used(int t) const { return used_[t]; }

  // By how much the last bound falls, at least, if category a makes this choice.
  double loss(int a, int choice) const {
    if (slot_[a] < 0) return choice == out() ? 0.0 : kInfinity;
    if (choice == out()) return utility_[a] + price_outside_;
    return utility_[a] - (assignment_.scores_of(slot_[a])[choice] - assignment_.price(choice));
  }

 private:
  // The assignment's worth by its prices: rounding in the assignment itself cannot make this less than a bound.
  double dual(const Candidates& set, int placed, int* column) {
    double total = 0.0;
    price_outside_ = kInfinity;
    for (int j = 0; j < assignment_.columns(); ++j) {
      total += assignment_.price(j);
      if (j >= columns_) price_outside_ = std::min(price_outside_, assignment_.price(j));
    }
    const auto most = [&](int k) {
      Lanes best = fill(-kInfinity);
      for (int v = 0; v < assignment_.columns(); v += kLanes)
        best = max(best, load(assignment_.scores_of(k) + v) - load(assignment_.prices() + v));
      return largest(best);
    };
    for (int a = 0; a < set.free(); ++a) {
      if (slot_[a] < 0) continue;
      total += utility_[a] = most(slot_[a]);
      const int j = assignment_.place(slot_[a]);
      column[a] = j < columns_ ? j : -1;
    }
    for (int k = placed; k < columns_; ++k) total += most(k);
    return total;
  }

  // The best choice of category a's members for every column: by falling gain, for every number taken so far.
  void choose(const Candidates& set, int a, const double* price, int lanes, double* out) {
    const int depth = set.depth(a);
    const double* weight = weight_.at(weight_at_[a]);
    double* value = value_.at(0);
    for (int v = 0; v < lanes; v += kLanes) {
      store(value, fill(0.0));
      int held = 0;
      for (const Member* m = set.members(a); m < set.members_end(a); ++m) {
        const Lanes gain = fill(m->gain), cost = fill(set.category_count(m->item) > 1 ? price[m->item] : 0.0);
        const auto taken = [&](int c) CAROUSEVAL_INLINE_LAMBDA {
          return load(value + c * kLanes) + (gain * load(weight + c * lanes + v) - cost);
        };
        int c = held - 1;
        if (held < depth) {
          store(value + (held + 1) * kLanes, taken(held));
          ++held;
        }
        for (; c >= 0; --c) store(value + (c + 1) * kLanes, max(load(value + (c + 1) * kLanes), taken(c)));
      }
      Lanes best = load(value);
      for (int c = 1; c <= held; ++c) best = max(best, load(value + c * kLanes));
      store(out + v, best);
    }
  }

  // The same for one column, remembering what was taken.
  void mark(const Candidates& set, int a, const double* price, int column) {
    const int depth = set.depth(a), size = set.size(a), lanes = a < set.free() ? lanes_ : kLanes;
    const double* weight = weight_.at(weight_at_[a]) + column;
    const Member* member = set.members(a);
    one_[0] = 0.0;
    for (int s = 0; s < size; ++s) {
      const double cost = set.category_count(member[s].item) > 1 ? price[member[s].item] : 0.0;
      bool* taken = taken_.at(int64_t(s) * depth);
      for (int c = std::min(s, depth - 1); c >= 0; --c) {
        const double with = one_[c] + (member[s].gain * weight[c * lanes] - cost);
        taken[c] = c == s || with > one_[c + 1];
        one_[c + 1] = taken[c] ? with : one_[c + 1];
      }
    }
    int c = 0;
    for (int n = 1; n <= depth; ++n)
      if (one_[n] > one_[c]) c = n;
    for (int s = size - 1; s >= 0 && c > 0; --s)
      if (c <= s + 1 && taken_[int64_t(s) * depth + c - 1]) ++used_[member[s].item], --c;
  }

  Assignment assignment_;
  int columns_ = 0, lanes_ = 0;
  bool crowded_ = false;  // more categories than columns
  double price_outside_ = 0.0;
  Buffer<int64_t> weight_at_;
  Buffer<double> weight_;  // by category: rank, then column
  Buffer<bool> banned_;    // by free category and choice
  Buffer<int> open_;
  Buffer<int> slot_;  // by free category: its number in the assignment, or -1
  Buffer<double> value_, one_;
  Buffer<bool> taken_;
  Buffer<int> used_;
  Buffer<double> utility_;
};

}  // namespace
