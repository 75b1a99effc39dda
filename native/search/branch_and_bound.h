// Branch and bound over the rows of categories, for sets whose items have several categories.
//
// With rows fixed the best cell of every item is a matching, so only rows need branching. At every node prices of
// items are improved step by step; the bound they give also tells which rows a category cannot have in a better page.
// As soon as few enough sets of categories are left for the first rows, a lattice of these is searched instead: few
// compared with the work of a bound, since of small sets some nodes are quicker; ever more, the more nodes there are.
#pragma once

#include "search/best_page.h"
#include "search/lattice_search.h"
#include "search/price_steps.h"

namespace {

class BranchAndBound {
 public:
  BranchAndBound(const CandidateSets& all, const CandidateSizes& most, WorkQueue& queue)
      : limits_(all.tolerance, all.work_limit, queue), types_(most), rows_(all, most, queue),
        best_(most, limits_, queue), steps_(most), lattice_(most, best_, limits_), place_(most.categories),
        used_(most.items), imbalance_(most.items), weight_(all.grid_rows * all.grid_cols), trail_(0) {}

  // Writes the best page found into `page`, returns its worth; bound() is proven.
  double solve(Candidates& set, Arrangement& page) {
    set_ = &set;
    set.list_categories();
    types_.read(set);
    rows_.read(set, types_);
    best_.read(set, page);
    lattice_.read(set, types_, rows_, steps_);
    trail_.reserve(int64_t(set.free()) * rows_.choices());
    open_bound_ = 0.0;
    trail_size_ = 0;
    nodes_ = 0;
    limits_.start();
    work_ = int64_t(set.free()) * set.places() * 4;
    for (int a = 0; a < set.active(); ++a) work_ += 2 * rows_.work(a);
    set_first_prices();
    const double most = rows_.bound(steps_.prices, 0.0, place_.at(0));
    forbidden_ = -8.0 * most;
    best_.try_exchanges(place_.at(0));
    explore(most);
    bound_ = std::max(best_.bound(), open_bound_);
    return best_.worth();
  }

  double bound() const { return bound_; }

 private:
  static constexpr int kWorkPerArc = 2;

  struct Ban {
    int category, choice;
  };

  // As if any item could stand anywhere: the prices of the unconstrained ideal, where many sets end.
  void set_first_prices() {
    const Candidates& set = *set_;
    int deepest = 0;
    for (int a = 1; a < set.active(); ++a)
      if (set.slots(a) > set.slots(deepest)) deepest = a;
    const RowTable& table = set_->table(deepest);
    int count = 0;
    for (int r = 0; r < set.slots(deepest); ++r)
      for (int j = 0; j < set.places(); ++j) weight_[count++] = table.weights_of_rank(r)[set.row(j)];
    const Member *begin = best_.matching().begin(), *end = best_.matching().end();
    const int wanted = int(std::min<int64_t>(count, end - begin + 1));
    std::partial_sort(weight_.at(0), weight_.at(wanted), weight_.at(count), Descending());
    const auto weight = [&](int64_t n) { return n < wanted ? weight_[int(n)] : 0.0; };
    double price = 0.0, gain = 0.0;
    for (int y = 0; y < types_.count(); ++y) steps_.prices.type[y] = 0.0;
    for (const Member* m = end; m-- > begin;) {
      price += (m->gain - gain) * 0.5 * (weight(m - begin) + weight(m - begin + 1));
      gain = m->gain;
      const int y = types_.of_item(m->item);
      if (types_.shared(y)) steps_.prices.type[y] = price;
    }
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
    if (!best_.beaten_by(bound)) return;
    if (nodes_ > 0 && limits_.spent()) {
      open_bound_ = std::max(open_bound_, bound);
      return;
    }
    ++nodes_;
    const int64_t mark = trail_size_;
    if (close(bound)) {
      // no better page
    } else if (limits_.spent()) {
      open_bound_ = std::max(open_bound_, bound);
    } else {
      const double last = rows_.bound(steps_.prices, forbidden_, place_.at(0));
      if (lattice_.search(bound, last, nodes_ * work_ / kWorkPerArc))
        open_bound_ = std::max(open_bound_, lattice_.open_bound());
      else branch(bound);
    }
    undo(mark);
  }

  // Closes the node (true), or lowers its bound and leaves the prices that gave it.
  bool close(double& node_bound) {
    constexpr int kRootSteps = 50, kSteps = 20, kTryEvery = 4, kClimbNodes = 8;
    const Candidates& set = *set_;
    const bool root = nodes_ == 1;
    double lowest = kInfinity;
    steps_.start();
    for (int y = 0; y < types_.count(); ++y) imbalance_[y] = 0.0;
    for (int step = 0; step < (root ? kRootSteps : kSteps) && !(step > 0 && limits_.spent()); ++step) {
      limits_.add(work_);
      const double bound = rows_.bound(steps_.prices, forbidden_, place_.at(0));
      if (!best_.beaten_by(bound)) return true;
      count();
      if (nodes_ % kClimbNodes == 0 && step == 2 * kTryEvery) best_.try_exchanges(place_.at(0));
      else if (step % kTryEvery == 0) best_.try_places(place_.at(0));
      if (!best_.beaten_by(bound)) return true;
      if (bound < lowest) {
        lowest = bound;
        steps_.keep();
        for (int a = 0; a < set.free(); ++a)
          for (int choice = 0; choice < rows_.choices(); ++choice)
            if (!best_.beaten_by(bound - rows_.loss(a, choice))) ban(a, choice);
      } else if (!steps_.stall()) {
        break;
      }
      for (int y = 0; y < types_.count(); ++y) {
        if (!types_.shared(y)) continue;
        const int excess = used_[y] - types_.copies(y);
        imbalance_[y] = 0.9 * imbalance_[y] + 0.1 * (excess < 0 ? -excess : excess);
        steps_.add_type(y, excess);
      }
      if (!steps_.move(bound - best_.worth())) break;
    }
    node_bound = std::min(node_bound, lowest);
    steps_.go_back();
    return false;
  }

  // How often items of each type are counted where the last bound was reached.
  void count() {
    for (int y = 0; y < types_.count(); ++y) used_[y] = 0;
    for (int a = 0; a < set_->active(); ++a)
      if (a >= set_->free() || place_[a] >= 0)
        rows_.visit(a, steps_.prices, a < set_->free() ? place_[a] : 0, [&](int y) { ++used_[y]; });
  }

  // The category whose items are most in dispute is decided: whether it is shown, then its row, the last row first.
  void branch(double bound) {
    const Candidates& set = *set_;
    const int out = rows_.out();
    int optional = -1, required = -1;  // the most disputed ones of either kind
    double optional_dispute = -1.0, required_dispute = -1.0;
    for (int a = 0; a < set.free(); ++a) {
      const bool may_be_out = rows_.may_be_out(a);
      if (rows_.open(a) + may_be_out == 0) return;  // no better page
      if (rows_.open(a) + may_be_out == 1) continue;
      double dispute = 0.0;
      for (const int* y = types_.members(a); y < types_.members_end(a); ++y)
        dispute += types_.gain(*y) * imbalance_[*y];
      if (may_be_out && dispute > optional_dispute) optional_dispute = dispute, optional = a;
      if (!may_be_out && dispute > required_dispute) required_dispute = dispute, required = a;
    }
    if (optional < 0 && required < 0) return try_last();
    if (required < 0 || optional_dispute > 0.6 * required_dispute) return decide_shown(optional, bound);
    for (int j = out - 1; j >= 0; --j)
      if (!rows_.banned(required, j)) decide_place(required, j, bound);
  }

  // One choice of rows is left, or none where two categories are left the same row.
  void try_last() {
    for (int a = 0; a < set_->free(); ++a) {
      place_[a] = -1;
      for (int j = 0; j < rows_.out(); ++j)
        if (!rows_.banned(a, j)) place_[a] = j;
      for (int b = 0; b < a; ++b)
        if (place_[a] >= 0 && place_[b] == place_[a]) return;
    }
    best_.try_places(place_.at(0), true);
  }

  void decide_place(int a, int place, double bound) {
    const int64_t mark = trail_size_;
    for (int choice = 0; choice < rows_.choices(); ++choice)
      if (choice != place) ban(a, choice);
    for (int b = 0; b < set_->free(); ++b)
      if (b != a) ban(b, place);
    explore(bound);
    undo(mark);
  }

  // If a category is shown, so are those that hold all its members: they could take its row.
  void decide_shown(int a, double bound) {
    const int64_t mark = trail_size_;
    const int out = rows_.out();
    for (int b = 0; b < set_->free(); ++b)
      if (b == a || stands_in(b, a)) ban(b, out);
    explore(bound);
    undo(mark);
    for (int b = 0; b < set_->free(); ++b)
      for (int j = 0; j < out && (b == a || stands_in(a, b)); ++j) ban(b, j);
    explore(bound);
    undo(mark);
  }

  // Whether a can stand in for b; of two equal ones, the first.
  bool stands_in(int a, int b) const { return types_.contains(a, b) && (a < b || !types_.contains(b, a)); }

  SearchLimits limits_;
  ItemTypes types_;
  LagrangianBound rows_;
  BestPage best_;
  PriceSteps steps_;
  LatticeSearch lattice_;
  Buffer<int> place_;         // by free category: the place it stands on, or -1
  Buffer<int> used_;          // by type
  Buffer<double> imbalance_;  // by type: how often it was counted too often or too seldom, lately
  Buffer<double> weight_;
  Buffer<Ban> trail_;  // to be undone
  int64_t trail_size_ = 0;
  int64_t nodes_ = 0, work_ = 0;  // of a bound
  double bound_ = 0.0, open_bound_ = 0.0, forbidden_ = 0.0;
  Candidates* set_ = nullptr;
};

}  // namespace
