// An upper bound on all pages: counting an item costs its price, wherever it is counted, and prices are paid back once.
//
// Then rows no longer compete for items: each category has a best choice of members for every row, and the best rows
// are an assignment. Any prices of 0 or more give a bound (Lagrangian duality).
#pragma once

#include "assignment.h"
#include "candidates.h"

namespace {

class PricedRows {
 public:
  PricedRows(const CandidateSets& all, const CandidateSizes& most)
      : assignment_(std::max(most.categories, all.grid_rows)), weight_at_(most.categories), weight_(0), banned_(0), value_((all.grid_cols + 1) * kLanes),
        one_(std::max(all.grid_cols + 1, kLanes)), taken_(0), used_(most.items), score_(most.categories), utility_(most.categories) {}

  void read(Candidates& set) {
    lanes_ = padded(set.columns());
    n_ = std::max(set.free(), set.columns());
    int64_t size = 0, widest = 0;
    for (int a = 0; a < set.active(); ++a) {
      weight_at_[a] = int(size);
      size += set.depth(a) * (a < set.free() ? lanes_ : kLanes);
      widest = std::max<int64_t>(widest, int64_t(set.size(a)) * set.depth(a));
    }
    if (weight_.size() < size) weight_ = Buffer<double>(int(size));
    if (taken_.size() < widest) taken_ = Buffer<uint8_t>(int(widest));
    if (banned_.size() < set.free() * n_) banned_ = Buffer<uint8_t>(set.free() * n_);
    for (int at = 0; at < set.free() * n_; ++at) banned_[at] = 0;
    for (int a = 0; a < set.active(); ++a) {
      const RowTable& table = set.table(a);
      double* out = weight_.at(weight_at_[a]);
      for (int r = 0; r < set.depth(a); ++r) {
        const double* from = table.weights_of_rank(r);
        if (a >= set.free()) {
          for (int l = 0; l < kLanes; ++l) *out++ = l == 0 ? from[set.pin(a)] : 0.0;
          continue;
        }
        for (int j = 0; j < set.columns(); ++j) *out++ = from[set.row(j)];
        for (int j = set.columns(); j < lanes_; ++j) *out++ = 0.0;
      }
    }
  }

  // The bound at these prices; column gets the columns that reach it, used() how often each item is then counted.
  double bound(Candidates& set, const double* price, double forbidden, int* column) {
    double total = 0.0;
    for (int t = 0; t < set.items(); ++t) {
      used_[t] = 0;
      if (set.homes(t) > 1) total += price[t];
    }
    for (int a = 0; a < set.active(); ++a) {
      const bool free = a < set.free();
      double* out = free ? assignment_.scores_of(a) : one_.at(0);
      choose(set, a, price, free ? lanes_ : kLanes, out);
      if (!free) {
        total += score_[a] = out[0];
        continue;
      }
      for (int j = set.columns(); j < padded(n_); ++j) out[j] = 0.0;
      for (int j = 0; j < n_; ++j)
        if (banned_[a * n_ + j]) out[j] = forbidden;
    }
    for (int a = set.free(); a < n_; ++a)
      for (int j = 0; j < padded(n_); ++j) assignment_.scores_of(a)[j] = 0.0;
    if (n_ > 0) {
      assignment_.solve(n_);
      for (int j = 0; j < n_; ++j) total += assignment_.price(j);
      for (int a = 0; a < n_; ++a) {
        const double* score = assignment_.scores_of(a);
        double most = -kInfinity;
        for (int j = 0; j < n_; ++j) most = std::max(most, score[j] - assignment_.price(j));
        total += most;
        if (a >= set.free()) continue;
        utility_[a] = most;
        const int j = assignment_.place(a);
        column[a] = j < set.columns() ? j : -1;
        score_[a] = score[j];
      }
    }
    return total;
  }

  // The members that the rows of the last bound would count.
  void count_used(Candidates& set, const double* price) {
    for (int a = 0; a < set.active(); ++a) {
      const int column = a < set.free() ? assignment_.place(a) : 0;
      if (a >= set.free() || column < set.columns()) mark(set, a, price, column);
    }
  }

  int used(int t) const { return used_[t]; }
  int columns() const { return n_; }
  int place(int a) const { return assignment_.place(a); }
  // How much the bound falls at least if category a stands on column j.
  double loss(int a, int j) const { return utility_[a] - (assignment_.scores_of(a)[j] - assignment_.price(j)); }
  uint8_t& banned(int a, int j) { return banned_[a * n_ + j]; }

 private:
  // The best choice of category a's members for every column: by falling gain, how many are taken so far.
  void choose(const Candidates& set, int a, const double* price, int lanes, double* out) {
    const int depth = set.depth(a);
    const double* weight = weight_.at(weight_at_[a]);
    for (int v = 0; v < lanes; v += kLanes) {
      double* value = value_.at(0);
      store(value, fill(0.0));
      int held = 0;
      for (const Member* m = set.members(a); m < set.members_end(a); ++m) {
        const Lanes gain = fill(m->gain), cost = fill(set.homes(m->item) > 1 ? price[m->item] : 0.0);
        int c = held;
        if (held < depth) {
          store(value + (held + 1) * kLanes, load(value + held * kLanes) + (gain * load(weight + held * lanes + v) - cost));
          --c, ++held;
        } else {
          --c;
        }
        for (; c >= 0; --c)
          store(value + (c + 1) * kLanes, max(load(value + (c + 1) * kLanes),
                                              load(value + c * kLanes) + (gain * load(weight + c * lanes + v) - cost)));
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
      const double cost = set.homes(member[s].item) > 1 ? price[member[s].item] : 0.0;
      uint8_t* taken = taken_.at(s * depth);
      for (int c = std::min(s, depth - 1); c >= 0; --c) {
        const double with = one_[c] + (member[s].gain * weight[c * lanes] - cost);
        taken[c] = c == s || with > one_[c + 1];
        if (taken[c]) one_[c + 1] = with;
      }
    }
    int c = 0;
    for (int n = 1; n <= depth; ++n)
      if (one_[n] > one_[c]) c = n;
    for (int s = size - 1; s >= 0 && c > 0; --s)
      if (c <= s + 1 && taken_[s * depth + c - 1]) ++used_[member[s].item], --c;
  }

  Assignment assignment_;
  int lanes_ = 0, n_ = 0;
  Buffer<int> weight_at_;
  Buffer<double> weight_;   // by category: rank, then column
  Buffer<uint8_t> banned_;  // by free category and column: not to stand there
  Buffer<double> value_, one_;
  Buffer<uint8_t> taken_;
  Buffer<int> used_;
  Buffer<double> score_, utility_;
};

}  // namespace
