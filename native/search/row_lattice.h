// Sets of categories that may stand on the first places of a better page: from a set on the first j places, arcs lead
// to the sets on the first j + 1.
//
// Prices of items alone let two categories count what only one of them can. But how many items of at least some gain a
// set of categories can show together is known (Hall's condition). So each place also takes a fee, by level of gain,
// for every item on it or above, and the set that stands there pays back the fees of as many items as it can show. Any
// fees of 0 or more give a bound: the longest path.
#pragma once

#include "core/random.h"
#include "search/best_page.h"
#include "search/category_sets.h"
#include "search/lagrangian_bound.h"

namespace {

class RowLattice {
 public:
  RowLattice(const CandidateSizes& most, BestPage& best, SearchLimits& limits)
      : best_(best), limits_(limits), showable_(most), bits_(most), wanted_(most.categories) {}

  // Parts gains into levels: all of them, or so that levels hold about as many items each.
  void read(const Candidates& set, const ItemTypes& types, Prices& prices) {
    candidates_ = &set;
    types_ = &types;
    places_ = set.places();
    lanes_ = padded(std::max(places_, 1));
    int distinct = 0;
    int64_t items = 0, before = 0;
    for (int y = 0; y < types.count(); ++y) {
      distinct += y == 0 || types.gain(y) != types.gain(y - 1);
      items += types.copies(y);
    }
    levels_ = 0;
    for (int y = 0; y < types.count(); ++y) {
      prices.level[y] = levels_;
      before += types.copies(y);
      const bool last = y + 1 == types.count();
      if (last || (types.gain(y + 1) != types.gain(y) &&
                   (distinct <= kMostLevels || before * kMostLevels >= (levels_ + 1) * items)))
        ++levels_;
    }
    prices.toll.reserve(int64_t(levels_) * lanes_);
    for (int64_t n = 0; n < int64_t(levels_) * lanes_; ++n) prices.toll[n] = 0.0;
  }

  int levels() const { return levels_; }
  int places() const { return places_; }

  // All sets that can be part of a better page, by the losses of the last bound; false: too many.
  bool build(const LagrangianBound& rows, const Prices& prices, double bound, int64_t most_arcs) {
    most_arcs_ = std::min(most_arcs, kMostArcs);
    if (!bits_.read(*candidates_, *types_, rows)) return false;
    showable_.read(*candidates_, *types_, prices.level.at(0), bits_);
    for (auto* values : {&layer_, &path_}) values->reserve(places_ + 2);
    first_.reserve(int64_t(places_ + 2) * (places_ + 1));
    score_.reserve(int64_t(candidates_->free()) * lanes_);
    sets_ = depth_ = layer_begin_ = 0;
    add_set(0, 0.0, 0);
    layer_[0] = 0;
    layer_[1] = 1;
    int64_t arcs = 0;
    for (int j = 0; j < places_; ++j) {
      first_[j] = arcs;
      layer_begin_ = sets_;
      clear_table();
      for (int s = layer_[j]; s < layer_[j + 1]; ++s)
        if (!add_arcs(rows, bound, j, s, arcs)) return false;
      layer_[j + 2] = sets_;
    }
    first_[places_] = arcs;
    list_wanted();
    return true;
  }

  // Counts what sets can show, exactly; until then a set counts all it has.
  void count_showable() {
    for (int64_t n = first()[0]; n < first()[places_]; ++n) {
      const int set = arc_[n].to;
      if (limits_.spent()) return;
      if (exact_[set]) continue;
      exact_[set] = true;
      limits_.add(showable_.count(set_[set], levels_, can_show_.at(int64_t(set) * kMostLevels)));
    }
  }

  // Tolls of items that fees come to: a place takes the fees of its own and of all below it, of an item's level and
  // of all lower ones.
  void set_tolls(const Buffer<double>& fee, Prices& prices) const {
    for (int l = levels_ - 1; l >= 0; --l) {
      double* toll = prices.toll.at(int64_t(l) * lanes_);
      double sum = 0.0;
      for (int j = places_ - 1; j >= 0; --j) {
        sum += fee[int64_t(l) * places_ + j];
        toll[j] = sum + (l + 1 < levels_ ? toll[lanes_ + j] : 0.0);
      }
    }
  }

  // The bound at these prices and fees, -infinity without a path; place gets the places of categories on the longest.
  double bound(LagrangianBound& rows, const Prices& prices, const Buffer<double>& fee, int* place) {
    int64_t work = 4 * arcs() + types_->count();
    for (int a = 0; a < candidates_->free(); ++a) {
      if (wanted_[a] == 0) continue;
      rows.choose(a, prices, score_.at(int64_t(a) * lanes_), wanted_[a]);
      work += rows.work(a);
    }
    for (int a = candidates_->free(); a < candidates_->active(); ++a) work += rows.work(a);
    limits_.add(work);
    base_ = rows.base(prices);
    for (const Arc* arc = begin(0); arc < end(places_ - 1); ++arc) forward_[arc->from] = forward_[arc->to] = -kInfinity;
    forward_[0] = 0.0;
    for (int j = 0; j < places_; ++j) {
      for (const Arc* arc = begin(j); arc < end(j); ++arc) {
        if (forward_[arc->to] == -kInfinity) reward_[arc->to] = reward(arc->to, j, fee);
        forward_[arc->to] = std::max(forward_[arc->to], forward_[arc->from] + worth(*arc, j));
      }
    }
    for (int a = 0; a < candidates_->free(); ++a) place[a] = -1;
    double most = places_ == 0 ? 0.0 : -kInfinity;
    for (const Arc* arc = begin(places_ - 1); arc < end(places_ - 1); ++arc)
      if (forward_[arc->to] > most) most = forward_[arc->to], path_[places_] = arc->to;
    if (most == -kInfinity) return most;
    for (int j = places_ - 1; j >= 0; --j)
      for (const Arc* arc = begin(j); arc < end(j); ++arc)
        if (arc->to == path_[j + 1] && forward_[arc->from] + worth(*arc, j) == forward_[arc->to]) {
          path_[j] = arc->from;
          if (arc->category >= 0) place[arc->category] = j;
          break;
        }
    return base_ + most;
  }

  // How many items of at least this level the categories on the first j + 1 places of the last path can show.
  int64_t can_show(int level, int j) const { return can_show_[int64_t(path_[j + 1]) * kMostLevels + level]; }

  // Drops the arcs of which no path is better than the best page, by the last bound.
  void prune() {
    find_backward();
    int64_t kept = first()[0];
    for (int j = 0; j < places_; ++j) {
      const Arc *arc = begin(j), *last = end(j);
      first()[j] = kept;
      for (; arc < last; ++arc)
        if (best_.beaten_by(base_ + forward_[arc->from] + worth(*arc, j) + backward_[arc->to])) arc_[kept++] = *arc;
    }
    first()[places_] = kept;
    list_wanted();
  }

  int64_t arcs() const { return first()[places_] - first()[0]; }
  bool one_path() const { return arcs() <= places_; }

  // The last number of places on which more than one set can stand, or the one with fewest such sets.
  int last_choice() {
    for (int layer = places_; layer > 0; --layer)
      if (list_sets(layer) > 1) return layer;
    return 0;
  }
  int narrowest_choice() {
    int best = 0, fewest = 0;
    for (int layer = 1; layer <= places_; ++layer) {
      const int count = list_sets(layer);
      if (count > 1 && (best == 0 || count < fewest)) fewest = count, best = layer;
    }
    return best;
  }

  // The sets on the first places, those with large bounds first, at the prices of the last bound; returns how many.
  int rank_sets(int layer) {
    find_backward();
    const int count = list_sets(layer);
    std::sort(listed_.at(0), listed_.at(count), LargerBound{this});
    return count;
  }
  int ranked(int n) const { return listed_[n]; }
  double bound_through(int set) const { return base_ + forward_[set] + backward_[set]; }

  // Keeps only paths through this set on the first places, until leave().
  void enter(int layer, int set) {
    const int64_t *from = first(), start = from[places_];
    arc_.extend(start + arcs());
    int64_t* next = first_.at(int64_t(depth_ + 1) * (places_ + 1));
    int64_t kept = start;
    for (int j = 0; j < places_; ++j) {
      next[j] = kept;
      for (int64_t n = from[j]; n < from[j + 1]; ++n) {
        const Arc& arc = arc_[n];
        const bool fits = j + 1 == layer  ? arc.to == set
                          : j == layer    ? arc.from == set
                          : j + 1 < layer ? (set_[arc.to] & ~set_[set]) == 0
                                          : (set_[set] & ~set_[arc.from]) == 0;
        if (fits) arc_[kept++] = arc;
      }
    }
    next[places_] = kept;
    ++depth_;
    list_wanted();
  }
  void leave() {
    --depth_;
    list_wanted();
  }

 private:
  static constexpr int kMostLevels = 8, kMostSets = 1 << 14;
  static constexpr int64_t kMostArcs = int64_t(1) << 17;

  struct Arc {
    int from, to;  // sets
    int category;  // -1: the place stays empty
  };

  struct LargerBound {
    const RowLattice* lattice;
    bool operator()(int a, int b) const {
      const double x = lattice->bound_through(a), y = lattice->bound_through(b);
      return x != y ? x > y : a < b;
    }
  };

  int64_t* first() { return first_.at(int64_t(depth_) * (places_ + 1)); }
  const int64_t* first() const { return first_.at(int64_t(depth_) * (places_ + 1)); }
  const Arc* begin(int j) const { return arc_.at(first()[std::max(j, 0)]); }
  const Arc* end(int j) const { return arc_.at(first()[j + 1]); }

  double worth(const Arc& arc, int j) const {
    return (arc.category < 0 ? 0.0 : score_[int64_t(arc.category) * lanes_ + j]) + reward_[arc.to];
  }

  // The fees that a set on the first j + 1 places pays back.
  double reward(int set, int j, const Buffer<double>& fee) const {
    const int64_t* can_show = can_show_.at(int64_t(set) * kMostLevels);
    double total = 0.0;
    for (int l = 0; l < levels_; ++l) total += fee[int64_t(l) * places_ + j] * double(can_show[l]);
    return total;
  }

  void find_backward() {
    for (const Arc* arc = begin(0); arc < end(places_ - 1); ++arc)
      backward_[arc->from] = backward_[arc->to] = -kInfinity;
    for (const Arc* arc = begin(places_ - 1); arc < end(places_ - 1); ++arc) backward_[arc->to] = 0.0;
    for (int j = places_ - 1; j >= 0; --j)
      for (const Arc* arc = begin(j); arc < end(j); ++arc)
        backward_[arc->from] = std::max(backward_[arc->from], worth(*arc, j) + backward_[arc->to]);
  }

  int list_sets(int layer) {
    int count = 0;
    for (const Arc* arc = begin(layer - 1); arc < end(layer - 1); ++arc) listed_before_[arc->to] = false;
    for (const Arc* arc = begin(layer - 1); arc < end(layer - 1); ++arc) {
      if (listed_before_[arc->to]) continue;
      listed_before_[arc->to] = true;
      listed_[count++] = arc->to;
    }
    return count;
  }

  // Arcs from set s on the first j places.
  bool add_arcs(const LagrangianBound& rows, double bound, int j, int s, int64_t& arcs) {
    limits_.add(16 * bits_.count());
    const int empty = std::max(0, places_ - candidates_->free());  // places that may stay empty
    for (int n = j - popcount(set_[s]) < empty ? -1 : 0; n < bits_.count(); ++n) {
      const uint64_t before = set_[s], set = n < 0 ? before : before | uint64_t(1) << n;
      if (n >= 0 && (set == before || rows.banned(bits_.category(n), j) || (bits_.twins(n) & ~before))) continue;
      const double loss = loss_[s] + (n < 0 ? 0.0 : rows.loss(bits_.category(n), j));
      const uint64_t needs = needs_[s] | (n < 0 ? 0 : bits_.containers(n));
      if (!bits_.may_go_on(set, needs, j) || !best_.beaten_by(bound - loss)) continue;
      int found = find(set);
      if (found < 0) {
        if (sets_ == kMostSets) return false;
        found = sets_;
        add_set(set, loss, needs);
        limits_.add(types_->count());
      }
      if (arcs >= most_arcs_) return false;
      loss_[found] = std::min(loss_[found], loss);
      arc_.extend(arcs + 1);
      arc_[arcs++] = {s, found, n < 0 ? -1 : bits_.category(n)};
    }
    return true;
  }

  void add_set(uint64_t set, double loss, uint64_t needs) {
    if (sets_ == set_.size()) {
      const int64_t size = std::max<int64_t>(256, 2 * sets_);
      for (auto* values : {&loss_, &forward_, &backward_, &reward_}) values->extend(size);
      for (auto* values : {&set_, &needs_}) values->extend(size);
      for (auto* values : {&listed_before_, &exact_}) values->extend(size);
      listed_.extend(size);
      can_show_.extend(size * kMostLevels);
      table_.reserve(4 * set_.size());
      clear_table();
      for (int s = layer_begin_; s < sets_; ++s) table_[slot(set_[s])] = s;
    }
    showable_.count_members(set, levels_, can_show_.at(int64_t(sets_) * kMostLevels));
    exact_[sets_] = false;
    loss_[sets_] = loss;
    needs_[sets_] = needs;
    set_[sets_] = set;
    table_[slot(set)] = sets_++;
  }

  // The sets of the layer that is being built, by their hash.
  void clear_table() {
    for (int64_t h = 0; h < table_.size(); ++h) table_[h] = -1;
  }
  int64_t slot(uint64_t set) const {
    const uint64_t hash = set * kGolden;
    int64_t h = int64_t((hash ^ (hash >> 32)) % uint64_t(table_.size()));
    while (table_[h] >= 0 && set_[table_[h]] != set) h = h + 1 == table_.size() ? 0 : h + 1;
    return h;
  }
  int find(uint64_t set) const { return table_[slot(set)]; }

  void list_wanted() {
    for (int a = 0; a < candidates_->free(); ++a) wanted_[a] = 0;
    for (int j = 0; j < places_; ++j)
      for (const Arc* arc = begin(j); arc < end(j); ++arc)
        if (arc->category >= 0) wanted_[arc->category] |= uint64_t(1) << j;
  }

  BestPage& best_;
  SearchLimits& limits_;
  const Candidates* candidates_ = nullptr;
  const ItemTypes* types_ = nullptr;
  int places_ = 0, lanes_ = 0, levels_ = 0, sets_ = 0, layer_begin_ = 0, depth_ = 0;
  int64_t most_arcs_ = 0;
  double base_ = 0.0;
  ShowableItems showable_;
  CategoryBits bits_;
  Buffer<uint64_t> wanted_;  // by free category: the places where some arc puts it
  Buffer<int> layer_{0}, path_{0}, table_{0}, listed_{0};
  Buffer<uint64_t> set_{0}, needs_{0};  // by set: its categories, and those that contain one of them
  Buffer<bool> listed_before_{0}, exact_{0};
  Buffer<double> loss_{0}, forward_{0}, backward_{0}, reward_{0}, score_{0};
  Buffer<int64_t> can_show_{0};  // by set and level
  Buffer<Arc> arc_{0};           // of this node and those above it
  Buffer<int64_t> first_{0};     // by depth and place
};

}  // namespace
