// Branch and bound over the rows of categories, for sets whose items have several homes.
//
// With rows fixed the best homes are a matching, so only rows need branching. At every node prices of items are improved
// step by step (a subgradient method); the bound they give also tells which rows a category cannot have in a better page.
#pragma once

#include "candidates.h"
#include "matching.h"
#include "priced_rows.h"

namespace {

class PageSearch {
 public:
  PageSearch(const CandidateSets& all, const CandidateSizes& most)
      : rows_(all, most), matching_(most), trial_(most), price_(most.items), kept_(most.items), tried_(kTried), trail_(0),
        limit_(all.node_limit) {}

  // Writes the best page found into `best`, returns its worth; bound() is proven.
  double solve(Candidates& set, Arrangement& best) {
    rows_.read(set);
    matching_.read(set);
    if (trail_.size() < set.free() * rows_.columns()) trail_ = Buffer<int>(set.free() * rows_.columns());
    for (int h = 0; h < kTried; ++h) tried_[h] = 0;
    set_ = &set;
    best_ = &best;
    worth_ = -1.0;
    open_bound_ = 0.0;
    trail_size_ = 0;
    nodes_ = 0;
    for (int t = 0; t < set.items(); ++t) price_[t] = 0.0;
    const double most = rows_.bound(set, price_.at(0), 0.0, trial_);
    forbidden_ = -8.0 * most;
    try_rows(true);
    explore(most);
    bound_ = std::max(worth_, open_bound_);
    return worth_;
  }

  double bound() const { return bound_; }
  int64_t nodes() const { return nodes_; }

 private:
  static constexpr int kTried = 256;
  static constexpr double kExact = 1e-12;  // relative: rounding in a bound

  bool settled(double bound) const { return bound <= worth_ + kExact * worth_; }

  // The best homes for the rows of trial_, unless these rows were tried lately.
  bool try_rows(bool always) {
    uint64_t hash = 1469598103934665603u;
    for (int a = 0; a < set_->active(); ++a) hash = (hash ^ uint64_t(trial_.row[a] + 1)) * 1099511628211u;
    uint64_t& seen = tried_[int((hash ^ (hash >> 32)) % kTried)];
    if (seen == hash && !always) return false;
    seen = hash;
    matching_.solve(*set_, trial_);
    const double found = worth(*set_, trial_, false);
    if (found > worth_) {
      worth_ = found;
      for (int a = 0; a < set_->active(); ++a) best_->row[a] = trial_.row[a];
      for (int t = 0; t < set_->items(); ++t) best_->home[t] = trial_.home[t];
    }
    return true;
  }

  void ban(int a, int j) {
    if (rows_.banned(a, j)) return;
    rows_.banned(a, j) = 1;
    trail_[trail_size_++] = a * rows_.columns() + j;
  }

  // Closes the node, or improves its bound and leaves the prices that gave it.
  bool close(double& node_bound) {
    Candidates& set = *set_;
    const int most = nodes_ == 1 ? 100 : 30;
    double theta = 1.0;
    int stalled = 0;
    for (int step = 0; step < most; ++step) {
      const double bound = rows_.bound(set, price_.at(0), forbidden_, trial_);
      if (settled(bound)) return true;
      if (step % 4 == 0 && try_rows(false) && settled(bound)) return true;
      if (bound < node_bound || step == 0) {
        node_bound = std::min(bound, node_bound);
        for (int t = 0; t < set.items(); ++t) kept_[t] = price_[t];
        stalled = 0;
      } else if (++stalled == 5) {
        theta *= 0.5;
        stalled = 0;
      }
      for (int a = 0; a < set.free(); ++a)
        for (int j = 0; j < rows_.columns(); ++j)
          if (settled(bound - rows_.loss(a, j))) ban(a, j);
      rows_.count_used(set, price_.at(0), trial_);
      double norm = 0.0;
      for (int t = 0; t < set.items(); ++t) {
        if (set.homes(t) < 2) continue;
        const int slope = 1 - rows_.used(t);
        if (slope < 0 || price_[t] > 0) norm += slope * slope;
      }
      if (norm == 0.0) break;
      const double move = theta * (bound - worth_) / norm;
      for (int t = 0; t < set.items(); ++t)
        if (set.homes(t) > 1) price_[t] = std::max(0.0, price_[t] - move * (1 - rows_.used(t)));
    }
    for (int t = 0; t < set.items(); ++t) price_[t] = kept_[t];
    return false;
  }

  void explore(double node_bound) {
    if (settled(node_bound)) return;
    if (nodes_ >= limit_) {
      open_bound_ = std::max(open_bound_, node_bound);
      return;
    }
    ++nodes_;
    const int mark = trail_size_;
    if (!close(node_bound)) branch(node_bound);
    while (trail_size_ > mark) rows_.banned(0, trail_[--trail_size_]) = 0;
  }

  void branch(double node_bound) {
    Candidates& set = *set_;
    const int n = rows_.columns(), real = set.columns();
    int chosen = -1, fewest = n + 1;
    for (int a = 0; a < set.free(); ++a) {
      int left = 0;
      bool off = false;
      for (int j = 0; j < n; ++j) {
        if (rows_.banned(a, j)) continue;
        if (j < real) ++left;
        else off = true;
      }
      left += off;
      if (left == 0) return;  // no better page
      if (left > 1 && left < fewest) {
        chosen = a;
        fewest = left;
      }
    }
    if (chosen < 0) {  // one choice of rows is left
      for (int a = 0; a < set.free(); ++a) {
        trial_.row[a] = -1;
        for (int j = 0; j < real; ++j)
          if (!rows_.banned(a, j)) trial_.row[a] = set.row(j);
      }
      for (int a = set.free(); a < set.active(); ++a) trial_.row[a] = set.pin(a);
      try_rows(true);
      return;
    }
    for (int j = 0; j < n; ++j) {
      if (rows_.banned(chosen, j)) continue;
      const int mark = trail_size_;
      for (int i = 0; i < n; ++i)
        if (j < real ? i != j : i < real) ban(chosen, i);
      if (j < real)
        for (int a = 0; a < set.free(); ++a)
          if (a != chosen) ban(a, j);
      explore(node_bound);
      while (trail_size_ > mark) rows_.banned(0, trail_[--trail_size_]) = 0;
      if (j >= real) break;  // to be left out is one choice
    }
  }

  PricedRows rows_;
  Matching matching_;
  Arrangement trial_;
  Buffer<double> price_, kept_;  // by item
  Buffer<uint64_t> tried_;       // rows tried lately, by their hash
  Buffer<int> trail_;            // what was banned, to be undone
  int trail_size_ = 0;
  int64_t limit_, nodes_ = 0;
  double worth_ = 0.0, bound_ = 0.0, open_bound_ = 0.0, forbidden_ = 0.0;
  Candidates* set_ = nullptr;
  Arrangement* best_ = nullptr;
};

}  // namespace
