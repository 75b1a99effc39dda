// Sets of categories that may stand on the first rows of a better page: from a set on the first j columns, arcs lead to
// the sets on the first j + 1.
//
// Prices of items alone let two categories count what only one of them can. But how many items of at least some gain a
// set of categories can show together is known (Hall's condition). So each column also takes a fee, by level of gain,
// for every item on it or above, and the set that stands there pays back the fees of as many items as it can show. Any
// fees of 0 or more give a bound: the longest path.
#pragma once

#include "lagrangian_bound.h"
#include "showable_items.h"

namespace {

class RowLattice {
 public:
  struct Arc {
    int from, to;  // sets
    int category;  // -1: the column stays empty
  };

  RowLattice(const CandidateSizes& most, Pieces& pieces)
      : pieces_(pieces), showable_(most), bit_(most.categories), wanted_(most.categories) {}

  // Parts gains into levels: all of them, or so that levels hold about as many items each.
  void read(const Candidates& set, const ItemTypes& types, Prices& prices) {
    candidates_ = &set;
    types_ = &types;
    columns_ = set.columns();
    lanes_ = padded(std::max(columns_, 1));
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
    for (int64_t at = 0; at < int64_t(levels_) * lanes_; ++at) prices.toll[at] = 0.0;
  }

  int levels() const { return levels_; }
  int columns() const { return columns_; }

  // All sets that can be part of a page worth more than `worth`, by the losses of the last bound; false: too many.
  bool build(const LagrangianBound& rows, const Prices& prices, double bound, double worth) {
    const Candidates& all = *candidates_;
    if (!number_categories(rows)) return false;
    reserve();
    showable_.read(all, *types_, prices.level.at(0), bit_);
    sets_ = depth_ = 0;
    layer_[0] = 0;
    add_set(0);
    for (int l = 0; l < levels_; ++l) {
      int64_t slots = 0;
      for (int a = all.free(); a < all.active(); ++a) slots += all.slots(a);
      can_show_[l] = std::min<int64_t>(can_show_[l], slots);
    }
    loss_[0] = 0.0;
    layer_[1] = 1;
    int64_t arcs = 0;
    const int spare = std::max(0, columns_ - all.free());  // columns that stay empty
    for (int j = 0; j < columns_; ++j) {
      first_[j] = arcs;
      clear_table();
      pieces_.check_stop();
      for (int s = layer_[j]; s < layer_[j + 1]; ++s) {
        for (int n = -1; n < open_; ++n) {
          if (n < 0 && j - __builtin_popcountll(set_[s]) >= spare) continue;
          const int a = n < 0 ? -1 : category_[n];
          const uint64_t bit = n < 0 ? 0 : uint64_t(1) << n, set = set_[s] | bit;
          if (n >= 0 && ((set_[s] & bit) || rows.banned(a, j) || (twins_[n] & ~set_[s]))) continue;
          const double loss = loss_[s] + (n < 0 ? 0.0 : rows.loss(a, j));
          if (bound - loss <= worth || !may_go_on(set, needs_[s] | (n < 0 ? 0 : contained_[n]), j)) continue;
          int& found = find(set);
          if (found < 0) {
            if (sets_ == kMostSets) return false;
            found = sets_;
            needs_[sets_] = 0;
            loss_[sets_] = loss;
            add_set(set);
          }
          if (arcs == kMostArcs) return false;
          needs_[found] |= needs_[s] | (n < 0 ? 0 : contained_[n]);
          loss_[found] = std::min(loss_[found], loss);
          for (int l = 0; l < levels_; ++l)
            can_show_[int64_t(found) * levels_ + l] =
                std::min<int64_t>(can_show_[int64_t(found) * levels_ + l],
                                  can_show_[int64_t(s) * levels_ + l] + (n < 0 ? 0 : all.slots(a)));
          arc_[arcs++] = {s, found, a};
        }
      }
      layer_[j + 2] = sets_;
    }
    first_[columns_] = arcs;
    list_wanted();
    return true;
  }

  // Tolls of items that fees come to: a column takes the fees of its own and of all below it, of an item's level and
  // of all lower ones.
  void set_tolls(const Buffer<double>& fee, Prices& prices) const {
    for (int l = levels_ - 1; l >= 0; --l) {
      double* toll = prices.toll.at(int64_t(l) * lanes_);
      double sum = 0.0;
      for (int j = columns_ - 1; j >= 0; --j) {
        sum += fee[int64_t(l) * columns_ + j];
        toll[j] = sum + (l + 1 < levels_ ? toll[lanes_ + j] : 0.0);
      }
    }
  }

  // The bound at these prices and fees, -infinity without a path; column gets the columns of categories on the longest.
  double bound(LagrangianBound& rows, const Prices& prices, const Buffer<double>& fee, int* column) {
    for (int n = 0; n < wanted_count_; ++n)
      rows.choose(wanted_[n], prices, score_.at(int64_t(wanted_[n]) * lanes_));
    base_ = rows.base(prices);
    for (int j = 0; j < columns_; ++j)
      for (const Arc* arc = begin(j); arc < end(j); ++arc) forward_[arc->from] = forward_[arc->to] = -kInfinity;
    forward_[0] = 0.0;
    for (int j = 0; j < columns_; ++j) {
      for (const Arc* arc = begin(j); arc < end(j); ++arc) {
        double reward = 0.0;
        for (int l = 0; l < levels_; ++l)
          reward += fee[int64_t(l) * columns_ + j] * double(can_show_[int64_t(arc->to) * levels_ + l]);
        reward_[arc->to] = reward;
      }
      for (const Arc* arc = begin(j); arc < end(j); ++arc)
        forward_[arc->to] = std::max(forward_[arc->to], forward_[arc->from] + worth(*arc, j));
    }
    for (int a = 0; a < candidates_->free(); ++a) column[a] = -1;
    double best = columns_ == 0 ? 0.0 : -kInfinity;
    if (columns_ > 0)
      for (const Arc* arc = begin(columns_ - 1); arc < end(columns_ - 1); ++arc)
        if (forward_[arc->to] > best) best = forward_[arc->to], path_[columns_] = arc->to;
    if (best == -kInfinity) return best;
    for (int j = columns_ - 1; j >= 0; --j)
      for (const Arc* arc = begin(j); arc < end(j); ++arc)
        if (arc->to == path_[j + 1] && forward_[arc->from] + worth(*arc, j) == forward_[arc->to]) {
          path_[j] = arc->from;
          if (arc->category >= 0) column[arc->category] = j;
          break;
        }
    return base_ + best;
  }

  // How many items of at least this level the categories on the first j + 1 columns of the last path can show.
  int64_t can_show(int level, int j) const { return can_show_[int64_t(path_[j + 1]) * levels_ + level]; }

  // Counts what sets can show, exactly; until then they may have too many.
  void count_exactly() {
    for (int64_t n = first()[0]; n < first()[columns_]; ++n) {
      const int set = arc_[n].to;
      if (exact_[set]) continue;
      exact_[set] = true;
      if (n % 64 == 0) pieces_.check_stop();
      showable_.count(set_[set], levels_, can_show_.at(int64_t(set) * levels_));
    }
  }

  // Drops the arcs of which no path is worth more than `worth`, by the last bound.
  void prune(double worth) {
    find_backward();
    int64_t kept = first()[0];
    for (int j = 0; j < columns_; ++j) {
      const Arc *arc = begin(j), *last = end(j);
      first()[j] = kept;
      for (; arc < last; ++arc)
        if (base_ + forward_[arc->from] + this->worth(*arc, j) + backward_[arc->to] > worth) arc_[kept++] = *arc;
    }
    first()[columns_] = kept;
    list_wanted();
  }

  // The layer with the fewest sets to choose from, more than one; 0 if only one path is left.
  int narrowest() {
    int best = 0, fewest = kMostSets + 1; double least = 0;
    for (int j = 0; j < columns_; ++j) {
      const int count = list_sets(j);
      static const int mode = getenv("LBRANCH") ? atoi(getenv("LBRANCH")) : 0;
      if (mode == 3 || mode == 4) {
        if (count < 2) continue;
        if (best == 0) { find_backward(); }
        double a = -1e300, b = -1e300, mean = 0;
        for (int n = 0; n < count; ++n) { const double v = forward_[listed_[n]] + backward_[listed_[n]]; if (v > a) b = a, a = v; else if (v > b) b = v; mean += v; }
        const double score = mode == 3 ? b : mean / count - 0*a;
        if (best == 0 || score < least) least = score, best = j + 1;
        continue;
      }
      if (mode == 5) {
        static const int most = getenv("LMOST") ? atoi(getenv("LMOST")) : 8;
        if (count > 1 && count <= most) best = j + 1, fewest = 0;
        else if (count > 1 && count < fewest) fewest = count, best = j + 1;
        continue;
      }
      if (mode == 1 && count > 1 && best) continue;
      if (count > 1 && (mode == 2 || mode == 1 || count < fewest)) fewest = count, best = j + 1;
    }
    return best;
  }

  // The sets of a layer by their bounds, at the prices of the last one, the best first; returns how many.
  int list_sets(int j) {
    int count = 0;
    for (const Arc* arc = begin(j); arc < end(j); ++arc) seen_[arc->to] = false;
    for (const Arc* arc = begin(j); arc < end(j); ++arc)
      if (!seen_[arc->to]) seen_[arc->to] = true, listed_[count++] = arc->to;
    return count;
  }
  void rank_sets(int* sets, int count) {
    find_backward();
    std::sort(sets, sets + count, BetterThrough{this});
  }
  int listed(int n) const { return listed_[n]; }
  double bound_through(int set) const { return base_ + forward_[set] + backward_[set]; }

  // Keeps only paths through this set of the layer, until leave().
  void enter(int layer, int set) {
    const int64_t* from = first();
    const int64_t start = from[columns_];
    arc_.extend(start + (from[columns_] - from[0]));
    int64_t kept = start;
    int64_t* next = first_.at(int64_t(depth_ + 1) * (columns_ + 1));
    for (int j = 0; j < columns_; ++j) {
      next[j] = kept;
      for (int64_t n = from[j]; n < from[j + 1]; ++n) {
        const Arc& arc = arc_[n];
        const bool fits = j + 1 < layer ? (set_[arc.to] & ~set_[set]) == 0
                          : j + 1 == layer ? arc.to == set
                          : j == layer ? arc.from == set
                                       : (set_[set] & ~set_[arc.from]) == 0;
        if (fits) arc_[kept++] = arc;
      }
    }
    next[columns_] = kept;
    ++depth_;
    list_wanted();
  }
  void leave() {
    --depth_;
    list_wanted();
  }

  int64_t arcs() const { return first()[columns_] - first()[0]; }

 private:
  static constexpr int kMostLevels = 8, kMostSets = 1 << 14, kTable = 4 * kMostSets;
  static constexpr int64_t kMostArcs = int64_t(1) << 17;

  struct BetterThrough {
    const RowLattice* lattice;
    bool operator()(int a, int b) const {
      const double x = lattice->bound_through(a), y = lattice->bound_through(b);
      return x != y ? x > y : a < b;
    }
  };

  int64_t* first() { return first_.at(int64_t(depth_) * (columns_ + 1)); }
  const int64_t* first() const { return first_.at(int64_t(depth_) * (columns_ + 1)); }
  const Arc* begin(int j) const { return arc_.at(first()[j]); }
  const Arc* end(int j) const { return arc_.at(first()[j + 1]); }

  double worth(const Arc& arc, int j) const {
    return (arc.category < 0 ? 0.0 : score_[int64_t(arc.category) * lanes_ + j]) + reward_[arc.to];
  }

  void find_backward() {
    for (int j = 0; j < columns_; ++j)
      for (const Arc* arc = begin(j); arc < end(j); ++arc)
        backward_[arc->from] = -kInfinity, backward_[arc->to] = j == columns_ - 1 ? 0.0 : -kInfinity;
    for (int j = columns_ - 1; j >= 0; --j) {
      for (const Arc* arc = begin(j); arc < end(j); ++arc)
        backward_[arc->from] = std::max(backward_[arc->from], worth(*arc, j) + backward_[arc->to]);
    }
  }

  void reserve() {
    for (auto* values : {&loss_, &forward_, &backward_, &reward_}) values->reserve(kMostSets);
    set_.reserve(kMostSets);
    needs_.reserve(kMostSets);
    seen_.reserve(kMostSets);
    exact_.reserve(kMostSets);
    listed_.reserve(kMostSets);
    can_show_.reserve(int64_t(kMostSets) * kMostLevels);
    table_.reserve(kTable);
    arc_.extend(kMostArcs);
    layer_.reserve(columns_ + 2);
    path_.reserve(columns_ + 1);
    first_.reserve(int64_t(columns_ + 2) * (columns_ + 1));
    score_.reserve(int64_t(candidates_->free()) * lanes_);
  }

  // Gives a bit to every free category that has a column left.
  bool number_categories(const LagrangianBound& rows) {
    const Candidates& all = *candidates_;
    open_ = 0;
    must_ = 0;
    for (int a = 0; a < all.free(); ++a) {
      bit_[a] = -1;
      if (rows.open(a) == 0) continue;
      if (open_ == 64) return false;
      if (!rows.may_be_out(a)) must_ |= uint64_t(1) << open_;
      bit_[a] = open_;
      category_[open_++] = a;
    }
    for (int j = 0; j < columns_ && j < kMostColumns; ++j) closed_[j] = 0;
    if (columns_ > kMostColumns) return false;
    for (int n = 0; n < open_; ++n)
      for (int j = columns_ - 1; j >= 0 && rows.banned(category_[n], j); --j)
        if (j > 0) closed_[j - 1] |= uint64_t(1) << n;
    for (int n = 0; n < open_; ++n) {
      contained_[n] = twins_[n] = 0;
      for (int other = 0; other < open_; ++other) {
        if (other == n || !contains(category_[other], category_[n])) continue;
        const bool twin = contains(category_[n], category_[other]);
        if (!twin || other < n) contained_[n] |= uint64_t(1) << other;
        if (twin && other < n) twins_[n] |= uint64_t(1) << other;
      }
    }
    return true;
  }

  // Whether category a has the slots and all members of b.
  bool contains(int a, int b) const {
    if (candidates_->slots(a) < candidates_->slots(b) || candidates_->size(a) < candidates_->size(b)) return false;
    const int *y = types_->members(a), *end = types_->members_end(a);
    for (const int* wanted = types_->members(b); wanted < types_->members_end(b); ++wanted) {
      while (y < end && *y < *wanted) ++y;
      if (y == end || *y != *wanted) return false;
    }
    return true;
  }

  // Whether a better page can begin with this set on columns 0 to j: those that must be shown still can, and if a
  // category is shown, so are those that contain it, which could take its place.
  bool may_go_on(uint64_t set, uint64_t needs, int j) const {
    const uint64_t missing = (must_ | needs) & ~set;
    return __builtin_popcountll(missing) <= columns_ - 1 - j && !(must_ & closed_[j] & ~set);
  }

  void add_set(uint64_t set) {
    showable_.count_members(set, levels_, can_show_.at(int64_t(sets_) * levels_));
    exact_[sets_] = false;
    set_[sets_++] = set;
  }

  void clear_table() {
    for (int h = 0; h < kTable; ++h) table_[h] = -1;
  }
  int& find(uint64_t set) {
    uint64_t h = set * 0x9e3779b97f4a7c15u;
    for (int at = int((h ^ (h >> 32)) % kTable);; at = (at + 1) % kTable)
      if (table_[at] < 0 || set_[table_[at]] == set) return table_[at];
  }

  // The categories that some arc places.
  void list_wanted() {
    for (int a = 0; a < candidates_->free(); ++a) wanted_[a] = 0;
    const int64_t *from = first();
    for (int64_t n = from[0]; n < from[columns_]; ++n)
      if (arc_[n].category >= 0) wanted_[arc_[n].category] = 1;
    wanted_count_ = 0;
    for (int a = 0; a < candidates_->free(); ++a)
      if (wanted_[a]) wanted_[wanted_count_++] = a;
  }

  static constexpr int kMostColumns = 64;

  Pieces& pieces_;
  const Candidates* candidates_ = nullptr;
  const ItemTypes* types_ = nullptr;
  int columns_ = 0, lanes_ = 0, levels_ = 0, open_ = 0, sets_ = 0, depth_ = 0, wanted_count_ = 0;
  double base_ = 0.0;
  uint64_t must_ = 0;                     // categories that may not be left out
  uint64_t closed_[kMostColumns];         // by column: categories with no column left below it
  uint64_t contained_[64], twins_[64];    // by bit: categories that contain it; equal ones that come first
  int category_[64];                      // by bit
  ShowableItems showable_;
  Buffer<int> bit_, wanted_;              // by free category
  Buffer<uint64_t> set_{0}, needs_{0};    // by set
  Buffer<int> layer_{0}, table_{0}, path_{0}, listed_{0};
  Buffer<bool> seen_{0}, exact_{0};
  Buffer<double> loss_{0}, forward_{0}, backward_{0}, reward_{0}, score_{0};
  Buffer<int64_t> can_show_{0};           // by set and level
  Buffer<Arc> arc_{0};                    // of this node and those above it
  Buffer<int64_t> first_{0};              // by depth and column
};

}  // namespace
