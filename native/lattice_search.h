// Branch and bound in the lattice of sets of categories on the first rows.
#pragma once

#include "best_page.h"
#include "price_steps.h"
#include "row_lattice.h"

namespace {

class LatticeSearch {
 public:
  LatticeSearch(const CandidateSizes& most, Pieces& pieces)
      : pieces_(pieces), lattice_(most, pieces), column_(most.categories), used_(most.items) {}

  void read(Candidates& set, const ItemTypes& types, LagrangianBound& rows, PriceSteps& steps, BestPage& best) {
    set_ = &set;
    types_ = &types;
    rows_ = &rows;
    steps_ = &steps;
    best_ = &best;
    lattice_.read(set, types, steps.prices);
    steps.read(types, lattice_.levels() * lattice_.columns());
    counted_.reserve(lattice_.levels());
  }

  // Searches all pages that the bans of the last bound leave, whose worth is at most `bound`; false if they are too
  // many for a lattice. open_bound() is the largest bound that was left unexplored.
  bool search(double bound) {
    if (!lattice_.build(*rows_, steps_->prices, bound, best_->worth())) return false;
    nodes_ = 0;
    open_bound_ = 0.0;
    if(getenv("LDEBUG")) fprintf(stderr,"lattice arcs %ld bound gap %.2e\n",(long)lattice_.arcs(),bound/best_->worth()-1);
    explore(bound);
    for (int at = 0; at < lattice_.levels() * lattice_.columns(); ++at) steps_->fee[at] = 0.0;
    lattice_.set_tolls(steps_->fee, steps_->prices);
    if(getenv("LDEBUG")) fprintf(stderr,"  nodes %ld evals %ld\n",(long)nodes_,(long)evals_);
    return true;
  }
  double open_bound() const { return open_bound_; }

 private:
  void explore(double bound, const double* parent = nullptr) {
    if (!best_->beaten_by(bound)) return;
    if (nodes_ >= 100000) {
      open_bound_ = std::max(open_bound_, bound);
      return;
    }
    ++nodes_;
    if (lattice_.arcs() == lattice_.columns()) { evaluate(); return best_->try_columns(column_.at(0), true); }
    if (close(bound, parent)) return;
    const int layer = lattice_.narrowest();
    if (layer == 0) return best_->try_columns(column_.at(0), true);
    const int count = lattice_.list_sets(layer - 1);
    Buffer<int> sets(count);
    Buffer<double> bounds(count), saved(steps_->size());
    steps_->save(saved.at(0));
    for (int n = 0; n < count; ++n) sets[n] = lattice_.listed(n);
    lattice_.rank_sets(sets.at(0), count);
    for (int n = 0; n < count; ++n) bounds[n] = std::min(bound, lattice_.bound_through(sets[n]));
    for (int n = 0; n < count; ++n) {
      if (!best_->beaten_by(bounds[n])) break;
      lattice_.enter(layer, sets[n]);
      explore(bounds[n], saved.at(0));
      lattice_.leave();
    }
  }

  double evaluate() {
    pieces_.check_stop();
    ++evals_;
    lattice_.set_tolls(steps_->fee, steps_->prices);
    return last_ = lattice_.bound(*rows_, steps_->prices, steps_->fee, column_.at(0));
  }

  // Closes the node (true), or lowers its bound and leaves the prices that gave it.
  bool close(double& node_bound, const double* parent) {
    const bool root = nodes_ == 1;
    lowest_ = kInfinity;
    static const int kRootSteps = getenv("LROOT") ? atoi(getenv("LROOT")) : 30, kSteps = getenv("LSTEPS") ? atoi(getenv("LSTEPS")) : 20;
    if (try_prices()) return true;
    if (parent) {
      steps_->restore(parent);
      if (try_prices()) return true;
    }
    for (int at = 0; at < fees(); ++at) steps_->fee[at] = 0.0;
    best_->find_prices(root ? best_->column() : column_.at(0), *types_, steps_->prices.type.at(0));
    if (try_prices()) return true;
    if (root && lattice_.levels() > 0) {
      lattice_.count_exactly();
      if(getenv("LDEBUG")) fprintf(stderr,"   starts gap %.2e\n",lowest_/best_->worth()-1);
      static const int kFeeSteps = getenv("LFEE") ? atoi(getenv("LFEE")) : 20;
      static const int kFeeStart = getenv("LFEES") ? atoi(getenv("LFEES")) : 0;
      if (kFeeSteps) {
      for (int y = 0; y < types_->count(); ++y) steps_->prices.type[y] = 0.0;
      for (int at = 0; at < fees(); ++at) steps_->fee[at] = 0.0*kFeeStart;
      steps_->start();
      evaluate();
      for (int step = 0; step < kFeeSteps; ++step) {
        count(false);
        if (!steps_->move(last_ - best_->worth())) break;
        if (try_prices()) return true;
      }
      if(getenv("LDEBUG")) fprintf(stderr,"   fees gap %.2e\n",lowest_/best_->worth()-1);
      }
    }
    steps_->go_back();
    static const int kMix = getenv("LMIX") ? atoi(getenv("LMIX")) : 0;
    if (kMix && !root) {
      Buffer<double> dual(types_->count());
      double share = 0.5;
      evaluate();
      for (int step = 0; step < kMix; ++step) {
        best_->find_prices(column_.at(0), *types_, dual.at(0));
        for (int y = 0; y < types_->count(); ++y) steps_->prices.type[y] += share * (dual[y] - steps_->prices.type[y]);
        for (int at = 0; at < fees(); ++at) steps_->fee[at] *= 1 - share;
        const double before = lowest_;
        if (try_prices()) return true;
        if (!(lowest_ < before)) share *= 0.7;
      }
      steps_->go_back();
    }
    steps_->start();
    evaluate();
    count();
    for (int step = 0; step < (root ? kRootSteps : kSteps); ++step) {
      if (!steps_->move(last_ - best_->worth())) break;
      const double before = lowest_;
      if (try_prices()) return true;
      if (root && step % 4 == 0) best_->try_columns(column_.at(0));
      if (!(lowest_ < before) && !steps_->stall()) break;
      count();
    }
    steps_->go_back();
    evaluate();
    if(getenv("LDEBUG")&&(root||getenv("LDEBUG")[0]=='2')) fprintf(stderr,"  node %ld arcs %ld gap %.2e\n",(long)nodes_,(long)lattice_.arcs(),lowest_/best_->worth()-1);
    node_bound = std::min(node_bound, lowest_);
    return false;
  }

  // The bound at today's prices; true if no better page is left.
  bool try_prices() {
    const double bound = evaluate();
    if (!best_->beaten_by(bound)) return true;
    if (bound < lowest_) {
      lowest_ = bound;
      steps_->keep();
      lattice_.prune(best_->worth());
    }
    return false;
  }

  int fees() const { return lattice_.levels() * lattice_.columns(); }

  // Tells the steps what the last path counts too often.
  void count(bool all = true) {
    const int columns = lattice_.columns(), levels = lattice_.levels();
    for (int y = 0; y < types_->count(); ++y) used_[y] = 0;
    for (int l = 0; l < levels; ++l) counted_[l] = 0;
    const auto use = [&](int y) {
      ++used_[y];
      ++counted_[steps_->prices.level[y]];
    };
    for (int a = set_->free(); a < set_->active(); ++a) rows_->visit(a, steps_->prices, 0, use);
    for (int j = 0; j < columns; ++j) {
      for (int a = 0; a < set_->free(); ++a)
        if (column_[a] == j) rows_->visit(a, steps_->prices, j, use);
      int64_t shown = 0;
      for (int l = 0; l < levels; ++l) {
        shown += counted_[l];
        steps_->add_fee(l * columns + j, double(shown - lattice_.can_show(l, j)));
      }
    }
    for (int y = 0; y < types_->count() && all; ++y)
      if (types_->shared(y)) steps_->add_type(y, used_[y] - types_->copies(y));
  }

  Pieces& pieces_;
  RowLattice lattice_;
  Buffer<int> column_;
  Buffer<int> used_;           // by type
  Buffer<int64_t> counted_{0};  // by level
  int64_t nodes_ = 0, evals_ = 0;
  double open_bound_ = 0.0, lowest_ = 0.0, last_ = 0.0;
  Candidates* set_ = nullptr;
  const ItemTypes* types_ = nullptr;
  LagrangianBound* rows_ = nullptr;
  PriceSteps* steps_ = nullptr;
  BestPage* best_ = nullptr;
};

}  // namespace
