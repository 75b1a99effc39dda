// An upper bound on all pages: counting an item costs its price, wherever it is counted, and prices are paid back once.
//
// Then rows no longer compete for items: each category has a best choice of members for every row, and the best rows
// are an assignment. Any prices of 0 or more give a bound (Lagrangian duality). Rows may also take a toll for items,
// which RowLattice pays back.
#pragma once

#include "score/assignment.h"
#include "search/candidates.h"
#include "search/item_types.h"

namespace {

// What is paid for counting an item. Types with one category have no price.
struct Prices {
  Prices(const CandidateSizes& most) : type(most.items), level(most.items), toll(0) {}
  Buffer<double> type;
  Buffer<int> level;    // by type: its tolls
  Buffer<double> toll;  // by level and place, lanes apart
};

// A free category chooses among the places of the set; with more categories than places it may also be left out,
// which is one more choice. Places are never left empty then: a category more does no harm.
class LagrangianBound {
 public:
  LagrangianBound(const CandidateSets& all, const CandidateSizes& most, WorkQueue& queue)
      : assignment_(queue), weight_at_(most.categories), work_(most.categories), weight_(0), banned_(0),
        open_(most.categories), slot_(most.categories), value_((all.grid_cols + 1) * kLanes),
        single_(std::max(all.grid_cols + 1, kLanes)), taken_(0), choice_(most.members), choice_end_(most.categories),
        utility_(most.categories) {}

  void read(Candidates& set, const ItemTypes& types) {
    set_ = &set;
    types_ = &types;
    places_ = set.places();
    crowded_ = set.free() > places_;
    lanes_ = padded(std::max(places_, 1));
    int64_t size = 0, widest = 0;
    for (int a = 0; a < set.active(); ++a) {
      weight_at_[a] = size;
      size += int64_t(set.depth(a)) * (a < set.free() ? lanes_ : kLanes);
      work_[a] = (int64_t(set.size(a)) * set.depth(a) + 8) * (a < set.free() ? lanes_ : kLanes) / kLanes;
      widest = std::max<int64_t>(widest, int64_t(set.size(a)) * set.depth(a));
    }
    weight_.reserve(size);
    taken_.reserve(widest);
    banned_.reserve(int64_t(set.free()) * choices());
    for (int64_t n = 0; n < int64_t(set.free()) * choices(); ++n) banned_[n] = false;
    for (int a = 0; a < set.free(); ++a) open_[a] = places_;
    for (int a = 0; a < set.active(); ++a) {
      const RowTable& table = set.table(a);
      double* out = weight_.at(weight_at_[a]);
      for (int r = 0; r < set.depth(a); ++r) {
        const double* from = table.weights_of_rank(r);
        const bool free = a < set.free();
        for (int j = 0; j < (free ? lanes_ : kLanes); ++j)
          *out++ = !free ? (j == 0 ? from[set.pin(a)] : 0.0) : j < places_ ? from[set.row(j)] : 0.0;
      }
    }
  }

  int64_t work(int a) const { return work_[a]; }  // of a choice of its members
  int choices() const { return places_ + crowded_; }
  int out() const { return places_; }  // the choice of a category that is left out
  bool banned(int a, int choice) const { return banned_[int64_t(a) * choices() + choice]; }
  int open(int a) const { return open_[a]; }  // places left to it
  bool may_be_out(int a) const { return crowded_ && !banned(a, out()); }
  void ban(int a, int choice, bool on = true) {
    banned_[int64_t(a) * choices() + choice] = on;
    if (choice < places_) open_[a] += on ? -1 : 1;
  }

  // What does not depend on places: prices paid back, and the worth of pinned categories.
  double base(const Prices& prices) {
    double total = 0.0;
    for (int y = 0; y < types_->count(); ++y)
      if (types_->shared(y)) total += types_->copies(y) * prices.type[y];
    for (int a = set_->free(); a < set_->active(); ++a) {
      choose(a, prices, single_.at(0));
      total += single_[0];
    }
    return total;
  }

  // The bound at these prices, -infinity where bans leave no page; place gets the places that reach it (-1: left
  // out).
  double bound(const Prices& prices, double forbidden, int* place) {
    const double total = base(prices);
    int placed = 0;  // categories that are not left out for good
    for (int a = 0; a < set_->free(); ++a) {
      slot_[a] = open_[a] > 0 ? placed++ : -1;
      place[a] = -1;
    }
    if (placed < (crowded_ ? places_ : set_->free())) return -kInfinity;
    if (std::max(placed, places_) == 0) return total;
    assignment_.reserve(placed, places_);
    for (int a = 0; a < set_->free(); ++a) {
      if (slot_[a] < 0) continue;
      double* score = assignment_.scores_of(slot_[a]);
      choose(a, prices, score);
      const double outside = crowded_ && banned(a, out()) ? forbidden : 0.0;
      for (int j = places_; j < padded(assignment_.places()); ++j) score[j] = outside;
      if (open_[a] < places_)
        for (int j = 0; j < places_; ++j)
          if (banned(a, j)) score[j] = forbidden;
    }
    assignment_.add_dummies(placed);
    assignment_.solve();
    return total + dual(placed, place);
  }

  // By how much the last bound falls, at least, if category a makes this choice. Losses of all categories add up.
  double loss(int a, int choice) const {
    if (slot_[a] < 0) return choice == out() ? 0.0 : kInfinity;
    if (choice == out()) return utility_[a] + price_outside_;
    return utility_[a] - (assignment_.scores_of(slot_[a])[choice] - assignment_.price(choice));
  }

  // The best choice of category a's members for every place, or for its own row: by falling gain, for every number
  // taken so far. Where `wanted` is given, only for places with a bit in it, and their neighbours.
  void choose(int a, const Prices& prices, double* out, uint64_t wanted = ~uint64_t(0)) {
    shorten(a, prices);
    const bool free = a < set_->free();
    const int depth = set_->depth(a), lanes = free ? lanes_ : kLanes;
    const double* weight = weight_.at(weight_at_[a]);
    double* value = value_.at(0);
    for (int v = 0; v < lanes; v += kLanes) {
      if (v < 64 && !(wanted >> v & 0xff)) continue;
      store(value, fill(0.0));
      int held = 0;
      for (const Choice* choice = first_choice(a); choice < choice_end_[a]; ++choice) {
        const double* toll = prices.toll.at(int64_t(prices.level[choice->type]) * lanes_);
        const Lanes gain = fill(choice->gain), cost = fill(choice->price) + (free ? load(toll + v) : fill(*toll));
        if (!any(gain * load(weight + v) > cost)) continue;  // dear even in the best cell
        const auto taken = [&](int c) CAROUSEVAL_INLINE_LAMBDA {
          return load(value + c * kLanes) + (gain * load(weight + c * lanes + v) - cost);
        };
        for (int copy = 0; copy < choice->copies; ++copy) {
          int c = held - 1;
          if (held < depth) {
            store(value + (held + 1) * kLanes, taken(held));
            ++held;
          }
          for (; c >= 0; --c) store(value + (c + 1) * kLanes, max(load(value + (c + 1) * kLanes), taken(c)));
        }
      }
      Lanes best = load(value);
      for (int c = 1; c <= held; ++c) best = max(best, load(value + c * kLanes));
      store(out + v, best);
    }
  }

  // Calls use(type) for every item that category a counts on this place, at the prices it last chose by.
  template <class Use>
  void visit(int a, const Prices& prices, int place, const Use& use) {
    const bool free = a < set_->free();
    const int depth = set_->depth(a), lanes = free ? lanes_ : kLanes;
    const double* weight = weight_.at(weight_at_[a]) + (free ? place : 0);
    const double* toll = prices.toll.at(free ? place : 0);
    single_[0] = 0.0;
    int n = 0;  // items seen
    for (const Choice* choice = first_choice(a); choice < choice_end_[a]; ++choice) {
      const double cost = choice->price + toll[int64_t(prices.level[choice->type]) * lanes_];
      if (!(choice->gain * weight[0] > cost)) continue;
      for (int copy = 0; copy < choice->copies; ++copy, ++n) {
        bool* taken = taken_.at(int64_t(n) * depth);
        for (int c = std::min(n, depth - 1); c >= 0; --c) {
          const double with = single_[c] + (choice->gain * weight[c * lanes] - cost);
          taken[c] = c == n || with > single_[c + 1];
          single_[c + 1] = taken[c] ? with : single_[c + 1];
        }
      }
    }
    int c = 0;
    for (int count = 1; count <= std::min(n, depth); ++count)
      if (single_[count] > single_[c]) c = count;
    for (const Choice* choice = choice_end_[a]; choice-- > first_choice(a) && c > 0;) {
      if (!(choice->gain * weight[0] > choice->price + toll[int64_t(prices.level[choice->type]) * lanes_])) continue;
      for (int copy = 0; copy < choice->copies; ++copy) {
        --n;
        if (c > 0 && c <= n + 1 && taken_[int64_t(n) * depth + c - 1]) use(choice->type), --c;
      }
    }
  }

 private:
  // A type among which a category chooses, as often as it could be chosen.
  struct Choice {
    double gain, price;
    int type, copies;
  };
  struct Cheaper {
    bool operator()(const Choice& a, const Choice& b) const {
      return a.price != b.price ? a.price < b.price : a.type < b.type;
    }
  };

  Choice* first_choice(int a) { return choice_.at(set_->member_offset(a)); }

  // Lists what category a chooses among: of equal gains the cheapest, as many as it has cells.
  void shorten(int a, const Prices& prices) {
    Choice* out = first_choice(a);
    const int depth = set_->depth(a);
    const int *y = types_->members(a), *end = types_->members_end(a);
    while (y < end) {
      Choice* const group = out;
      const double gain = types_->gain(*y);
      int64_t items = 0;
      for (; y < end && types_->gain(*y) == gain; ++y) {
        const int copies = std::min(types_->copies(*y), depth);
        *out++ = {gain, types_->shared(*y) ? prices.type[*y] : 0.0, *y, copies};
        items += copies;
      }
      if (items <= depth) continue;
      std::sort(group, out, Cheaper());
      int room = depth;
      Choice* kept = group;
      for (; kept < out && room > 0; ++kept) room -= kept->copies = std::min(kept->copies, room);
      out = kept;
    }
    choice_end_[a] = out;
  }

  // The assignment's worth by its prices: rounding in the assignment itself cannot make this less than a bound.
  double dual(int placed, int* place) {
    double total = 0.0;
    price_outside_ = kInfinity;
    for (int j = 0; j < assignment_.places(); ++j) {
      total += assignment_.price(j);
      if (j >= places_) price_outside_ = std::min(price_outside_, assignment_.price(j));
    }
    const auto most = [&](int k) {
      Lanes best = fill(-kInfinity);
      for (int v = 0; v < assignment_.places(); v += kLanes)
        best = max(best, load(assignment_.scores_of(k) + v) - load(assignment_.prices() + v));
      return largest(best);
    };
    for (int a = 0; a < set_->free(); ++a) {
      if (slot_[a] < 0) continue;
      total += utility_[a] = most(slot_[a]);
      const int j = assignment_.place(slot_[a]);
      place[a] = j < places_ ? j : -1;
    }
    for (int k = placed; k < places_; ++k) total += most(k);
    return total;
  }

  const Candidates* set_ = nullptr;
  const ItemTypes* types_ = nullptr;
  Assignment assignment_;
  int places_ = 0, lanes_ = 0;
  bool crowded_ = false;  // more categories than places
  double price_outside_ = 0.0;
  Buffer<int64_t> weight_at_, work_;
  Buffer<double> weight_;  // by category: rank, then place
  Buffer<bool> banned_;    // by free category and choice
  Buffer<int> open_;
  Buffer<int> slot_;  // by free category: its number in the assignment, or -1
  Buffer<double> value_, single_;
  Buffer<bool> taken_;
  Buffer<Choice> choice_;  // by category
  Buffer<Choice*> choice_end_;
  Buffer<double> utility_;
};

}  // namespace
