// Branch and bound in the lattice of sets of categories on the first places.
//
// What to decide first makes a difference of a hundred and more, either way: the categories of the whole page and then
// from the last row up, or wherever the fewest sets are left. So both ways take turns, with ever more nodes.
#pragma once

#include "search/best_page.h"
#include "search/price_steps.h"
#include "search/row_lattice.h"

namespace {

class LatticeSearch {
 public:
  LatticeSearch(const CandidateSizes& most, BestPage& best, SearchLimits& limits)
      : best_(best), limits_(limits), lattice_(most, best, limits), place_(most.categories), used_(most.items) {}

  void read(const Candidates& set, const ItemTypes& types, LagrangianBound& rows, PriceSteps& steps) {
    set_ = &set;
    types_ = &types;
    rows_ = &rows;
    steps_ = &steps;
    lattice_.read(set, types, steps.prices);
    steps.read(types, lattice_.levels() * lattice_.places());
    counted_.reserve(lattice_.levels());
  }

  // Searches the pages that bans leave, none of which is worth more than `bound`, nor than the last bound of the rows;
  // false if they are too many for a lattice of so many arcs. open_bound() is the largest bound that was left
  // unexplored.
  bool search(double bound, double last, int64_t most_arcs) {
    open_bound_ = 0.0;
    if (!best_.beaten_by(last)) return true;
    if (!lattice_.build(*rows_, steps_->prices, last, most_arcs)) return false;
    bound = std::min(bound, last);
    if (!close_root(bound)) {
      Buffer<double> prices(steps_->size());
      steps_->save(prices.at(0));
      cut_short_ = true;
      for (int turn = 0; cut_short_ && !(turn > 0 && limits_.spent()); ++turn) {
        from_last_ = turn % 2 == 0;
        nodes_left_ = int64_t(kFirstNodes) << (turn / 2 * 2);
        cut_short_ = false;
        open_bound_ = 0.0;
        steps_->restore(prices.at(0));
        evaluate();
        branch(bound);
      }
    }
    clear_fees();
    lattice_.set_tolls(steps_->fee, steps_->prices);
    return true;
  }
  double open_bound() const { return open_bound_; }

 private:
  static constexpr int kFirstNodes = 128, kRootSteps = 30, kFeeSteps = 20, kSteps = 12, kTryEvery = 4;

  void explore(double bound, const double* parent) {
    if (!best_.beaten_by(bound)) return;
    if (nodes_left_ == 0 || limits_.spent()) {
      open_bound_ = std::max(open_bound_, bound);
      cut_short_ = true;
      return;
    }
    --nodes_left_;
    lowest_ = kInfinity;
    if (lattice_.one_path()) {
      evaluate();
      return best_.try_places(place_.at(0), true);
    }
    if (close(bound, parent)) return;
    branch(bound);
  }

  // One set after the other on the first places, as many as leave a choice. Prices of the last bound must be the best.
  void branch(double bound) {
    const int layer = from_last_ ? lattice_.last_choice() : lattice_.narrowest_choice();
    if (layer == 0) return best_.try_places(place_.at(0), true);
    const int count = lattice_.rank_sets(layer);
    Buffer<int> sets(count);
    Buffer<double> bounds(count), prices(steps_->size());
    steps_->save(prices.at(0));
    for (int n = 0; n < count; ++n) {
      sets[n] = lattice_.ranked(n);
      bounds[n] = std::min(bound, lattice_.bound_through(sets[n]));
    }
    for (int n = 0; n < count; ++n) {
      lattice_.enter(layer, sets[n]);
      explore(bounds[n], prices.at(0));
      lattice_.leave();
    }
  }

  // Closes the whole lattice (true), or lowers its bound and leaves the prices that gave it. Starts at the last prices
  // of items, at those of the best page, and at fees alone, which often are enough.
  bool close_root(double& bound) {
    lowest_ = kInfinity;
    if (try_prices()) return true;
    clear_fees();
    best_.find_prices(best_.place(), *types_, steps_->prices.type.at(0));
    if (try_prices()) return true;
    lattice_.count_showable();
    clear_fees();
    for (int y = 0; y < types_->count(); ++y) steps_->prices.type[y] = 0.0;
    steps_->start();
    evaluate();
    for (int step = 0; step < kFeeSteps && !limits_.spent(); ++step) {
      count(false);
      if (!steps_->move(last_ - best_.worth())) break;
      if (try_prices()) return true;
      if (step % kTryEvery == 0) best_.try_places(place_.at(0));
    }
    return descend(kRootSteps, bound);
  }

  // The same for a node: starts at the last prices, those of its parent, and those of the page that they lead to.
  bool close(double& bound, const double* parent) {
    if (try_prices()) return true;
    steps_->restore(parent);
    if (try_prices()) return true;
    clear_fees();
    best_.find_prices(place_.at(0), *types_, steps_->prices.type.at(0));
    if (try_prices()) return true;
    return descend(kSteps, bound);
  }

  // Takes steps from the best prices so far.
  bool descend(int most_steps, double& bound) {
    steps_->go_back();
    steps_->start();
    evaluate();
    for (int step = 0; step < most_steps && !limits_.spent(); ++step) {
      count(true);
      if (!steps_->move(last_ - best_.worth())) break;
      const double before = lowest_;
      if (try_prices()) return true;
      if (most_steps == kRootSteps && step % kTryEvery == 0) best_.try_places(place_.at(0));
      if (!(lowest_ < before) && !steps_->stall()) break;
    }
    steps_->go_back();
    evaluate();
    bound = std::min(bound, lowest_);
    return false;
  }

  // The bound at today's prices; true if no better page is left.
  bool try_prices() {
    if (!best_.beaten_by(evaluate())) return true;
    if (last_ < lowest_) {
      lowest_ = last_;
      steps_->keep();
      lattice_.prune();
    }
    return false;
  }

  double evaluate() {
    lattice_.set_tolls(steps_->fee, steps_->prices);
    return last_ = lattice_.bound(*rows_, steps_->prices, steps_->fee, place_.at(0));
  }

  void clear_fees() {
    for (int n = 0; n < lattice_.levels() * lattice_.places(); ++n) steps_->fee[n] = 0.0;
  }

  // Tells the steps what the last path counts too often.
  void count(bool types_too) {
    const int places = lattice_.places(), levels = lattice_.levels();
    for (int y = 0; y < types_->count(); ++y) used_[y] = 0;
    for (int l = 0; l < levels; ++l) counted_[l] = 0;
    const auto use = [&](int y) {
      ++used_[y];
      ++counted_[steps_->prices.level[y]];
    };
    int64_t work = types_->count();
    for (int a = set_->free(); a < set_->active(); ++a) {
      rows_->visit(a, steps_->prices, 0, use);
      work += rows_->work(a);
    }
    for (int j = 0; j < places; ++j) {
      for (int a = 0; a < set_->free(); ++a) {
        if (place_[a] != j) continue;
        rows_->visit(a, steps_->prices, j, use);
        work += rows_->work(a);
      }
      int64_t counted = 0;
      for (int l = 0; l < levels; ++l) {
        counted += counted_[l];
        steps_->add_fee(l * places + j, double(counted - lattice_.can_show(l, j)));
      }
    }
    for (int y = 0; y < types_->count() && types_too; ++y)
      if (types_->shared(y)) steps_->add_type(y, used_[y] - types_->copies(y));
    limits_.add(work);
  }

  BestPage& best_;
  SearchLimits& limits_;
  RowLattice lattice_;
  Buffer<int> place_;           // of categories on the last path
  Buffer<int> used_;            // by type
  Buffer<int64_t> counted_{0};  // by level
  bool from_last_ = true, cut_short_ = false;
  int64_t nodes_left_ = 0;
  double open_bound_ = 0.0, lowest_ = 0.0, last_ = 0.0;
  const Candidates* set_ = nullptr;
  const ItemTypes* types_ = nullptr;
  LagrangianBound* rows_ = nullptr;
  PriceSteps* steps_ = nullptr;
};

}  // namespace
