// Branch and bound over the rows of categories, for sets whose items have several categories.
//
// With rows fixed the best place of every item is a matching, so only rows need branching. At every node prices of
// items are improved step by step (a subgradient method); the bound they give also tells which rows a category cannot
// have in a better page.
#pragma once

#include "candidates.h"
#include "item_matching.h"
#include "lagrangian_bound.h"

namespace {

class BranchAndBound {
 public:
  BranchAndBound(const CandidateSets& all, const CandidateSizes& most, Pieces& pieces)
      : pieces_(pieces), rows_(all, most, pieces), matching_(most, pieces), trial_(most.categories), trial_page_(most),
        price_(most.items), best_price_(most.items), direction_(most.items), imbalance_(most.items),
        weight_(all.grid_rows * all.grid_cols), recent_rows_(kRecent), trail_(0), node_limit_(all.node_limit) {}

  // Writes the best page found into `best`, returns its worth; bound() is proven.
  double solve(Candidates& set, Arrangement& best) {
    set_ = &set;
    best_ = &best;
    rows_.read(set);
    matching_.read(set);
    trail_.reserve(int64_t(set.free()) * rows_.choices());
    for (int h = 0; h < kRecent; ++h) recent_rows_[h] = 0;
    worth_ = -1.0;
    open_bound_ = 0.0;
    trail_size_ = 0;
    nodes_ = 0;
    // very large sets, whose nodes cost more, get fewer of them: the limit is one of work
    limit_ = std::max<int64_t>(
        1, node_limit_ * kOrdinary / std::max(kOrdinary, int64_t(matching_.end() - matching_.begin()) * set.active()));
    set_first_prices();
    const double most = rows_.bound(set, price_.at(0), 0.0, trial_.at(0));
    forbidden_ = -8.0 * most;
    exchange_rows();
    explore(most);
    bound_ = std::max(worth_, open_bound_);
    return worth_;
  }

  double bound() const { return bound_; }

 private:
  struct Ban {
    int category, choice;
  };

  static constexpr int kRecent = 256;
  static constexpr int64_t kOrdinary = 4000;  // items times categories
  static constexpr int64_t kMostExchanged = 100'000'000;
  static constexpr double kExact = 1e-12;  // relative: rounding in a bound

  bool no_better(double bound) const { return bound <= worth_ + kExact * worth_; }

  // As if any item could stand anywhere: the prices of the unconstrained ideal, where many sets end.
  void set_first_prices() {
    const Candidates& set = *set_;
    int deepest = 0;
    for (int a = 1; a < set.active(); ++a)
      if (set.slots(a) > set.slots(deepest)) deepest = a;
    const RowTable& table = set_->table(deepest);
    int count = 0;
    for (int r = 0; r < set.slots(deepest); ++r)
      for (int j = 0; j < set.columns(); ++j) weight_[count++] = table.weights_of_rank(r)[set.row(j)];
    const Member *begin = matching_.begin(), *end = matching_.end();
    const int wanted = int(std::min<int64_t>(count, end - begin + 1));
    std::partial_sort(weight_.at(0), weight_.at(wanted), weight_.at(count), Descending());
    const auto weight = [&](int64_t n) { return n < wanted ? weight_[int(n)] : 0.0; };
    double price = 0.0, gain = 0.0;
    for (const Member* m = end; m-- > begin;) {
      price += (m->gain - gain) * 0.5 * (weight(m - begin) + weight(m - begin + 1));
      gain = m->gain;
      price_[m->item] = price;
    }
  }

  // Matches items for the rows of trial_, unless these rows were tried lately.
  void try_rows(bool always) {
    Candidates& set = *set_;
    uint64_t hash = 1469598103934665603u;
    for (int a = 0; a < set.free(); ++a) hash = (hash ^ uint64_t(trial_[a] + 1)) * 1099511628211u;
    uint64_t& recent = recent_rows_[int((hash ^ (hash >> 32)) % kRecent)];
    if (recent == hash && !always) return;
    recent = hash;
    matching_.choose_quickly(set, trial_.at(0));
    matching_.improve(set, trial_page_.category.at(0));
    for (int a = 0; a < set.active(); ++a)
      trial_page_.row[a] = a >= set.free() ? set.pin(a) : trial_[a] < 0 ? -1 : set.row(trial_[a]);
    const double value = worth(set, trial_page_, false);
    if (!(value > worth_)) return;
    worth_ = value;
    for (int a = 0; a < set.active(); ++a) best_->row[a] = trial_page_.row[a];
    for (int t = 0; t < set.items(); ++t) best_->category[t] = trial_page_.category[t];
  }

  // Exchanges rows of trial_ as long as that helps the quick matching; in huge sets that would take too long.
  void exchange_rows() {
    const Candidates& set = *set_;
    if (int64_t(set.free()) * set.items() > kMostExchanged) return try_rows(false);
    double best = matching_.choose_quickly(set, trial_.at(0));
    for (bool better = true; better;) {
      better = false;
      for (int a = 0; a < set.free(); ++a)
        for (int b = a + 1; b < set.free(); ++b) {
          if (trial_[a] == trial_[b]) continue;
          if (b % kCheckEvery == 0) pieces_.check_stop();
          std::swap(trial_[a], trial_[b]);
          const double value = matching_.choose_quickly(set, trial_.at(0));
          if (value > best + kExact * best) {
            best = value;
            better = true;
          } else {
            std::swap(trial_[a], trial_[b]);
          }
        }
    }
    try_rows(false);
  }

  void ban(int a, int choice) {
    if (rows_.banned(a, choice)) return;
    rows_.ban(a, choice);
    trail_[trail_size_++] = {a, choice};
  }
  void undo(int64_t mark) {
    while (trail_size_ > mark) {
      const Ban& last = trail_[--trail_size_];
      rows_.ban(last.category, last.choice, false);
    }
  }

  void explore(double bound) {
    if (no_better(bound)) return;
    if (nodes_ >= limit_) {
      open_bound_ = std::max(open_bound_, bound);
      return;
    }
    ++nodes_;
    const int64_t mark = trail_size_;
    if (!close(bound)) branch(bound);
    undo(mark);
  }

  // Closes the node (true), or lowers its bound and leaves the prices that gave it. Steps are Polyak's: towards a bound
  // equal to the best page, along a mean of the last directions; shorter whenever the bound stalls.
  bool close(double& node_bound) {
    constexpr double kMemory = 0.4, kFirst = 1.5, kShorter = 0.7, kShortest = 0.3;
    constexpr int kPatience = 5, kTryEvery = 4, kClimbEvery = 30, kClimbNodes = 8;
    const Candidates& set = *set_;
    const bool root = nodes_ == 1;
    double lowest = kInfinity, length = kFirst;
    int stalled = 0;
    for (int t = 0; t < set.items(); ++t) direction_[t] = imbalance_[t] = 0.0;
    for (int step = 0; step < (root ? 100 : 20); ++step) {
      pieces_.check_stop();
      const double bound = rows_.bound(set, price_.at(0), forbidden_, trial_.at(0));
      if (no_better(bound)) return true;
      rows_.count_used(set, price_.at(0), trial_.at(0));
      if (root ? step % kClimbEvery == kClimbEvery - 1 : nodes_ % kClimbNodes == 0 && step == 2 * kTryEvery)
        exchange_rows();
      else if (step % kTryEvery == 0) try_rows(false);
      if (no_better(bound)) return true;
      if (bound < lowest) {
        lowest = bound;
        stalled = 0;
        for (int t = 0; t < set.items(); ++t) best_price_[t] = price_[t];
        for (int a = 0; a < set.free(); ++a)
          for (int choice = 0; choice < rows_.choices(); ++choice)
            if (no_better(bound - rows_.loss(a, choice))) ban(a, choice);
      } else if (++stalled == kPatience) {
        length *= kShorter;
        stalled = 0;
        if (length < kShortest) break;
      }
      double norm = 0.0;
      for (int t = 0; t < set.items(); ++t) {
        if (set.category_count(t) < 2) continue;
        const int excess = rows_.used(t) - 1;
        imbalance_[t] = 0.9 * imbalance_[t] + 0.1 * (excess < 0 ? -excess : excess);
        direction_[t] = kMemory * direction_[t] + excess;
        if (price_[t] <= 0 && direction_[t] < 0) direction_[t] = 0.0;
        norm += direction_[t] * direction_[t];
      }
      if (norm == 0.0) break;
      const double move = length * (bound - worth_) / norm;
      for (int t = 0; t < set.items(); ++t)
        if (set.category_count(t) > 1) price_[t] = std::max(0.0, price_[t] + move * direction_[t]);
    }
    node_bound = std::min(node_bound, lowest);
    for (int t = 0; t < set.items(); ++t) price_[t] = best_price_[t];
    return false;
  }

  // The category whose items are most in dispute is decided: whether it is shown, then its row, the last row first.
  void branch(double bound) {
    const Candidates& set = *set_;
    const int out = rows_.out();
    int optional = -1, shown = -1;  // the most disputed ones of either kind
    double optional_dispute = -1.0, shown_dispute = -1.0;
    for (int a = 0; a < set.free(); ++a) {
      const bool may_be_out = rows_.choices() > out && !rows_.banned(a, out);
      if (rows_.open(a) + may_be_out == 0) return;  // no better page
      if (rows_.open(a) + may_be_out == 1) continue;
      double dispute = 0.0;
      for (const Member* m = set.members(a); m < set.members_end(a); ++m) dispute += m->gain * imbalance_[m->item];
      if (may_be_out && dispute > optional_dispute) optional_dispute = dispute, optional = a;
      if (!may_be_out && dispute > shown_dispute) shown_dispute = dispute, shown = a;
    }
    if (optional < 0 && shown < 0) return try_last();
    if (shown < 0 || optional_dispute > 0.6 * shown_dispute) return decide_shown(optional, bound);
    for (int j = out - 1; j >= 0; --j)
      if (!rows_.banned(shown, j)) place(shown, j, bound);
  }

  // One choice of rows is left.
  void try_last() {
    for (int a = 0; a < set_->free(); ++a) {
      trial_[a] = -1;
      for (int j = 0; j < rows_.out(); ++j)
        if (!rows_.banned(a, j)) trial_[a] = j;
    }
    try_rows(true);
  }

  void place(int a, int column, double bound) {
    const int64_t mark = trail_size_;
    for (int choice = 0; choice < rows_.choices(); ++choice)
      if (choice != column) ban(a, choice);
    for (int b = 0; b < set_->free(); ++b)
      if (b != a) ban(b, column);
    explore(bound);
    undo(mark);
  }

  // If a category is shown, so are those that hold all its members: they could take its row.
  void decide_shown(int a, double bound) {
    const int64_t mark = trail_size_;
    const int out = rows_.out();
    for (int b = 0; b < set_->free(); ++b)
      if (b == a || contains(b, a)) ban(b, out);
    explore(bound);
    undo(mark);
    for (int b = 0; b < set_->free(); ++b)
      for (int j = 0; j < out && (b == a || contains(a, b)); ++j) ban(b, j);
    explore(bound);
    undo(mark);
  }

  // Whether a could stand in for b with all its members; of two equal ones, the first.
  bool contains(int a, int b) const {
    const Candidates& set = *set_;
    if (set.slots(a) < set.slots(b) || set.size(a) < set.size(b)) return false;
    if (set.slots(a) == set.slots(b) && set.size(a) == set.size(b) && a > b) return false;
    const Member *m = set.members(a), *end = set.members_end(a);
    for (const Member* wanted = set.members(b); wanted < set.members_end(b); ++wanted) {
      while (m < end && m->item != wanted->item) ++m;
      if (m == end) return false;
    }
    return true;
  }

  Pieces& pieces_;
  LagrangianBound rows_;
  ItemMatching matching_;
  Buffer<int> trial_;  // by free category: the column it stands on, or -1
  Arrangement trial_page_;
  Buffer<double> price_, best_price_, direction_;  // by item
  Buffer<double> imbalance_;                       // by item: how often it was not counted exactly once, lately
  Buffer<double> weight_;
  Buffer<uint64_t> recent_rows_;  // rows tried lately, by their hash
  Buffer<Ban> trail_;             // to be undone
  int64_t trail_size_ = 0;
  int64_t limit_ = 0, node_limit_, nodes_ = 0;
  double worth_ = 0.0, bound_ = 0.0, open_bound_ = 0.0, forbidden_ = 0.0;
  Candidates* set_ = nullptr;
  Arrangement* best_ = nullptr;
};

}  // namespace
