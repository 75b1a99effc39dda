// Branch and bound over the rows of categories, for sets whose items have several homes.
//
// With rows fixed the best homes are a matching, so only rows need branching. At every node prices of items are improved
// step by step (a subgradient method); the bound they give also tells which rows a category cannot have in a better page.
#pragma once
#include <cstdlib>
#include <cstdio>

#include "best_homes.h"
#include "candidates.h"
#include "priced_rows.h"

namespace {
inline double knob(const char* name, double other) { const char* v = getenv(name); return v ? atof(v) : other; }

class PageSearch {
 public:
  PageSearch(const CandidateSets& all, const CandidateSizes& most)
      : rows_(all, most), homes_(most), trial_(most.categories), spare_(most.categories), home_(most.items), price_(most.items), kept_(most.items),
        push_(most.items), heavy_(all.grid_rows * all.grid_cols), tried_(kTried), trail_(0), limit_(all.node_limit) {}
  ~PageSearch() { if (getenv("STATS")) printf("nodes %ld steps %ld exact %ld quick %ld\n", all_nodes, all_steps, all_exact, all_quick); }
  long all_nodes = 0, all_steps = 0, all_exact = 0, all_quick = 0;

  // Writes the best page found into `best`, returns its worth; bound() is proven.
  double solve(Candidates& set, Arrangement& best) {
    set_ = &set;
    best_ = &best;
    rows_.read(set);
    homes_.read(set);
    if (trail_.size() < set.free() * rows_.columns()) trail_ = Buffer<int>(set.free() * rows_.columns());
    for (int h = 0; h < kTried; ++h) tried_[h] = 0;
    worth_ = -1.0;
    open_bound_ = 0.0;
    trail_size_ = 0;
    nodes_ = 0;
    for (int t = 0; t < set.items(); ++t) price_[t] = 0.0;
    set_first_prices();
    forbidden_ = 0.0;
    const double most = rows_.bound(set, price_.at(0), 0.0, trial_.at(0));
    forbidden_ = -8.0 * most;
    climb();
    explore(most);
    bound_ = std::max(worth_, open_bound_);
    return worth_;
  }

  double bound() const { return bound_; }

 private:
  static constexpr int kTried = 256;
  static constexpr double kExact = 1e-12;  // relative: rounding in a bound

  bool settled(double bound) const { return bound <= worth_ + kExact * worth_; }

  // As if any item could stand anywhere: the prices of the unconstrained ideal.
  void set_first_prices() {
    const Candidates& set = *set_;
    int deepest = 0;
    for (int a = 1; a < set.active(); ++a)
      if (set.slots(a) > set.slots(deepest)) deepest = a;
    const RowTable& table = set_->table(deepest);
    int count = 0;
    for (int r = 0; r < set.slots(deepest); ++r)
      for (int j = 0; j < set.columns(); ++j) heavy_[count++] = table.weights_of_rank(r)[set.row(j)];
    std::sort(heavy_.at(0), heavy_.at(count), Descending());
    const Member *begin = homes_.begin(), *end = homes_.end();
    const auto weight = [&](int64_t n) { return n < count ? heavy_[int(n)] : 0.0; };
    double price = 0.0, gain = 0.0;
    for (const Member* m = end; m-- > begin;) {
      price += (m->gain - gain) * 0.5 * (weight(m - begin) + weight(m - begin + 1));
      gain = m->gain;
      price_[m->item] = price;
    }
  }

  // The best homes for the rows of trial_, unless these rows were tried lately.
  void try_rows(bool always) {
    const Candidates& set = *set_;
    uint64_t hash = 1469598103934665603u;
    for (int a = 0; a < set.free(); ++a) hash = (hash ^ uint64_t(trial_[a] + 1)) * 1099511628211u;
    uint64_t& seen = tried_[int((hash ^ (hash >> 32)) % kTried)];
    if (seen == hash && !always) return;
    seen = hash;
    ++all_exact;
    homes_.choose_quickly(set, trial_.at(0));
    homes_.improve(set, home_.at(0));
    Arrangement& best = *best_;
    for (int a = 0; a < set.active(); ++a) std::swap(spare_[a], best.row[a]);
    for (int a = 0; a < set.active(); ++a)
      best.row[a] = a >= set.free() ? set.pin(a) : trial_[a] < 0 ? -1 : set.row(trial_[a]);
    for (int t = 0; t < set.items(); ++t) std::swap(home_[t], best.home[t]);
    const double found = worth(*set_, best, false);
    if (found > worth_) {
      worth_ = found;
      return;
    }
    for (int a = 0; a < set.active(); ++a) std::swap(spare_[a], best.row[a]);
    for (int t = 0; t < set.items(); ++t) std::swap(home_[t], best.home[t]);
  }

  // Exchanges rows as long as that helps the quick choice of homes.
  void climb() {
    const Candidates& set = *set_;
    double best = homes_.choose_quickly(set, trial_.at(0));
    for (bool better = true; better;) {
      better = false;
      for (int a = 0; a < set.free(); ++a)
        for (int b = a + 1; b < set.free(); ++b) {
          if (trial_[a] == trial_[b]) continue;
          std::swap(trial_[a], trial_[b]);
          ++all_quick;
          const double value = homes_.choose_quickly(set, trial_.at(0));
          if (value > best + 1e-12 * best) {
            best = value;
            better = true;
          } else {
            std::swap(trial_[a], trial_[b]);
          }
        }
    }
    try_rows(false);
  }

  void ban(int a, int j) {
    if (rows_.banned(a, j)) return;
    rows_.banned(a, j) = 1;
    trail_[trail_size_++] = a * rows_.columns() + j;
  }

  // Closes the node, or improves its bound and leaves the prices that gave it.
  bool close(double& node_bound) {
    Candidates& set = *set_;
    static const int root_steps = int(knob("STEPS", 100)), node_steps = int(knob("NODE", 30)), every = int(knob("EVERY", 4)), patience = int(knob("PATIENCE", 5));
    static const double start = knob("THETA", 1.0), deflect = knob("DEFLECT", 0.5), shrink = knob("SHRINK", 0.7);
    const int most = nodes_ == 1 ? root_steps : node_steps;
    double theta = start;
    int stalled = 0;
    for (int t = 0; t < set.items(); ++t) push_[t] = 0.0;
    double best_here = kInfinity;
    for (int step = 0; step < most; ++step) {
      ++all_steps;
      const double bound = rows_.bound(set, price_.at(0), forbidden_, trial_.at(0));
      if (settled(bound)) return true;
      if (step % every == 0) try_rows(false);
      if (settled(bound)) return true;
      if (bound < best_here) {
        best_here = bound;
        for (int t = 0; t < set.items(); ++t) kept_[t] = price_[t];
        stalled = 0;
      } else if (++stalled == patience) {
        theta *= shrink;
        stalled = 0;
      }
      for (int a = 0; a < set.free(); ++a)
        for (int j = 0; j < rows_.columns(); ++j)
          if (settled(bound - rows_.loss(a, j))) ban(a, j);
      rows_.count_used(set, price_.at(0));
      double norm = 0.0;
      for (int t = 0; t < set.items(); ++t) {
        if (set.homes(t) < 2) continue;
        push_[t] = deflect * push_[t] + (rows_.used(t) - 1);
        if (price_[t] <= 0 && push_[t] < 0) push_[t] = 0.0;
        norm += push_[t] * push_[t];
      }
      if (norm == 0.0) break;
      const double move = theta * (bound - worth_) / norm;
      for (int t = 0; t < set.items(); ++t)
        if (set.homes(t) > 1) price_[t] = std::max(0.0, price_[t] + move * push_[t]);
    }
    node_bound = std::min(node_bound, best_here);
    for (int t = 0; t < set.items(); ++t) price_[t] = kept_[t];
    return false;
  }

  void explore(double node_bound) {
    if (settled(node_bound)) return;
    if (nodes_ >= limit_) {
      open_bound_ = std::max(open_bound_, node_bound);
      return;
    }
    ++nodes_, ++all_nodes;
    const int mark = trail_size_;
    if (!close(node_bound)) branch(node_bound);
    undo(mark);
  }

  void undo(int mark) {
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
        trial_[a] = -1;
        for (int j = 0; j < real; ++j)
          if (!rows_.banned(a, j)) trial_[a] = j;
      }
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
      undo(mark);
      if (j >= real) break;  // to be left out is one choice
    }
  }

  PricedRows rows_;
  BestHomes homes_;
  Buffer<int> trial_, spare_;  // by category: the column it stands on, or -1
  Buffer<int> home_;
  Buffer<double> price_, kept_, push_;  // by item
  Buffer<double> heavy_;
  Buffer<uint64_t> tried_;  // rows tried lately, by their hash
  Buffer<int> trail_;       // what was banned, to be undone
  int trail_size_ = 0;
  int64_t limit_, nodes_ = 0;
  double worth_ = 0.0, bound_ = 0.0, open_bound_ = 0.0, forbidden_ = 0.0;
  Candidates* set_ = nullptr;
  Arrangement* best_ = nullptr;
};

}  // namespace
