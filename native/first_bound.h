// An upper bound on what the rows below can gain, given the set of rows above.
//
// Items have prices: whatever rows count an item, each pays its price, which is paid back once. So each row may choose
// the items it counts, rows are independent, and their values on places are an assignment, whose prices of places bound
// it. Prices are found once a page by subgradient steps; for a set of rows, items that count above are dropped.
#pragma once

#include <algorithm>

#include "assignment.h"
#include "first_page.h"
#include "simd.h"

namespace {

class FirstBound {
 public:
  FirstBound(FirstPage& page, const FirstSets& all, const FirstSizes& most, Pieces& pieces)
      : page_(page), assignment_(pieces), price_(most.items), best_price_(most.items), count_(most.items),
        shared_(most.items), place_price_(padded(all.grid_rows)), open_price_(padded(all.grid_rows)),
        value_(padded(all.grid_rows)), loss_(kMostLive), gain_(all.grid_cols), cost_(all.grid_cols),
        item_(all.grid_cols), lanes_((all.grid_cols + 1) * kLanes),
        taken_(int64_t(all.grid_cols) * (all.grid_cols + 1)) {}

  // Finds prices for the page; `found` is the value of an order of its rows.
  void price_page(double found) {
    find_shared();
    for (int n = 0; n < shared_count_; ++n) price_[shared_[n].item] = 0.0;
    double least = kInfinity, step = 1.0;
    for (int s = 0, failed = 0; s < kSteps; ++s) {
      const double bound = price_places();
      if (bound < least) {
        failed = 0;
        least = bound;
        for (int n = 0; n < shared_count_; ++n) best_price_[shared_[n].item] = price_[shared_[n].item];
        for (int i = 0; i < page_.places(); ++i) place_price_[page_.place(i)] = assignment_.price(i);
      } else if (++failed % kPatience == 0) {
        step *= 0.5;
      }
      if (bound <= found || !move_prices(step * (bound - found))) break;
    }
    for (int n = 0; n < shared_count_; ++n) price_[shared_[n].item] = best_price_[shared_[n].item];
  }

  // Prepares for sets of rows that fill the first `at` places.
  void begin_layer(int at) {
    const int height = page_.height(), from = page_.place(at);
    for (int i = 0; i < padded(height); ++i) open_price_[i] = kInfinity;
    prices_left_ = 0.0;
    idle_ = -kInfinity;
    for (int i = at; i < page_.places(); ++i) {
      const int place = page_.place(i);
      open_price_[place] = place_price_[place];
      prices_left_ += place_price_[place];
      idle_ = std::max(idle_, -place_price_[place]);
    }
    at_ = at;
    from_ = from;
  }

  // The most that can be gained from the next place on, when these rows are above it.
  double rest(uint64_t above, int rows_above) {
    double total = prices_left_;
    for (int n = 0; n < shared_count_; ++n)
      if (FirstPage::remains(shared_[n], above, from_)) total += price_[shared_[n].item];
    for (int bit = 0; bit < page_.live(); ++bit) {
      if (above >> bit & 1) continue;
      choose_members(page_.live_row(bit), above, from_);
      const double most = best_place(page_.live_row(bit));
      loss_[bit] = most - (value_[from_] - open_price_[from_]);
      total += most;
    }
    const int idle = page_.places() - at_ - (page_.live() - rows_above);
    idle_loss_ = idle_ + open_price_[from_];
    if (idle > 0) total += idle * idle_;
    for (int row = from_; row < page_.height(); ++row) {
      if (!page_.fixed(row) || page_.members(row) == page_.members_end(row)) continue;
      choose_members(row, above, from_);
      total += row_lanes(page_.table(row), row / kLanes * kLanes)[row % kLanes];
    }
    return total;
  }

  // By how much the last bound falls if this row, or one without relevant items, takes the next place.
  double loss(int bit) const { return loss_[bit]; }
  double idle_loss() const { return idle_loss_; }

 private:
  // shared_: one member of every item that several rows show.
  void find_shared() {
    for (int t = 0; t < page_.items(); ++t) count_[t] = 0;
    shared_count_ = 0;
    for (int row = 0; row < page_.height(); ++row)
      for (const FirstMember* m = page_.members(row); m < page_.members_end(row); ++m) {
        price_[m->item] = 0.0;
        if (++count_[m->item] == 2) shared_[shared_count_++] = *m;
      }
  }

  // The bound at today's prices; assignment_ has the prices of places then.
  double price_places() {
    const int places = page_.places(), lanes = padded(page_.height());
    assignment_.reserve(places, places);
    double total = 0.0;
    for (int n = 0; n < shared_count_; ++n) {
      total += price_[shared_[n].item];
      count_[shared_[n].item] = 0;
    }
    for (int bit = 0; bit < page_.live(); ++bit) {
      const int row = page_.live_row(bit);
      choose_members(row, 0, 0);
      for (int v = 0; v < lanes; v += kLanes) store(value_.at(v), row_lanes(page_.table(row), v));
      double* scores = assignment_.scores_of(bit);
      for (int i = 0; i < padded(places); ++i) scores[i] = i < places ? value_[page_.place(i)] : 0.0;
    }
    assignment_.add_dummies(page_.live());
    total += assignment_.solve();
    for (int bit = 0; bit < page_.live(); ++bit) count_chosen(page_.live_row(bit), page_.place(assignment_.place(bit)));
    for (int row = 0; row < page_.height(); ++row)
      if (page_.fixed(row) && page_.members(row) < page_.members_end(row)) total += count_chosen(row, row);
    return total;
  }

  // Raises the prices of items that several rows chose, lowers those that none did.
  bool move_prices(double distance) {
    double norm = 0.0;
    for (int n = 0; n < shared_count_; ++n) {
      const int t = shared_[n].item;
      if (count_[t] != 1 && (count_[t] > 1 || price_[t] > 0)) norm += double(count_[t] - 1) * (count_[t] - 1);
    }
    if (norm == 0.0) return false;
    for (int n = 0; n < shared_count_; ++n) {
      const int t = shared_[n].item;
      price_[t] = std::max(0.0, price_[t] + distance / norm * (count_[t] - 1));
    }
    return true;
  }

  // gain_, cost_ and item_: the members of a row that are left.
  void choose_members(int row, uint64_t above, int from) {
    members_ = 0;
    for (const FirstMember* m = page_.members(row); m < page_.members_end(row); ++m) {
      if (!FirstPage::remains(*m, above, from)) continue;
      gain_[members_] = m->gain;
      item_[members_] = m->item;
      cost_[members_++] = price_[m->item];
    }
  }

  // The best value of the row on eight places, by the number of members with a price that are chosen.
  Lanes row_lanes(const RowTable& table, int v) {
    double* value = lanes_.at(0);
    store(value, fill(0.0));
    int certain = 0, choices = 0;
    for (int i = 0; i < members_; ++i) {
      const Lanes gain = fill(gain_[i]);
      if (cost_[i] == 0.0) {
        for (int o = 0; o <= choices; ++o)
          store(value + o * kLanes, load(value + o * kLanes) + gain * load(table.weights_of_rank(certain + o) + v));
        ++certain;
        continue;
      }
      const Lanes cost = fill(cost_[i]);
      store(value + (choices + 1) * kLanes, fill(-kInfinity));
      for (int o = choices; o >= 0; --o) {
        const Lanes with = load(value + o * kLanes) + gain * load(table.weights_of_rank(certain + o) + v) - cost;
        store(value + (o + 1) * kLanes, max(load(value + (o + 1) * kLanes), with));
      }
      ++choices;
    }
    Lanes best = load(value);
    for (int o = 1; o <= choices; ++o) best = max(best, load(value + o * kLanes));
    return best;
  }

  // The most that a row gains over the price of its place; value_ has its value on every place left.
  double best_place(int row) {
    Lanes best = fill(-kInfinity);
    const RowTable& table = page_.table(row);
    for (int v = from_ / kLanes * kLanes; v < padded(page_.height()); v += kLanes) {
      const Lanes value = row_lanes(table, v);
      store(value_.at(v), value);
      best = max(best, value - load(open_price_.at(v)));
    }
    return largest(best);
  }

  // Counts the items that a row chooses on its place, and returns its value.
  double count_chosen(int row, int place) {
    choose_members(row, 0, 0);
    const RowTable& table = page_.table(row);
    const int stride = members_ + 1;
    double* value = lanes_.at(0);  // by the number chosen
    for (int o = 1; o <= members_; ++o) value[o] = -kInfinity;
    value[0] = 0.0;
    for (int i = 0; i < members_; ++i)
      for (int o = i + 1; o >= 0; --o) {
        const double with =
            o > 0 ? value[o - 1] + gain_[i] * table.weights_of_rank(o - 1)[place] - cost_[i] : -kInfinity;
        const bool take = cost_[i] == 0.0 || with > value[o];
        taken_[int64_t(i) * stride + o] = take;
        if (take) value[o] = with;
      }
    int chosen = 0;
    for (int o = 1; o <= members_; ++o)
      if (value[o] > value[chosen]) chosen = o;
    const double best = value[chosen];
    for (int i = members_ - 1; i >= 0; --i)
      if (taken_[int64_t(i) * stride + chosen]) {
        ++count_[item_[i]];
        --chosen;
      }
    return best;
  }

  static constexpr int kSteps = 60, kPatience = 4;
  FirstPage& page_;
  Assignment assignment_;
  Buffer<double> price_, best_price_;  // by item
  Buffer<int> count_;                  // by item: rows that chose it
  Buffer<FirstMember> shared_;
  int shared_count_ = 0;
  Buffer<double> place_price_, open_price_, value_;  // by place; infinite where no row may go
  Buffer<double> loss_;
  double prices_left_ = 0.0, idle_ = 0.0, idle_loss_ = 0.0;
  int at_ = 0, from_ = 0, members_ = 0;
  Buffer<double> gain_, cost_;
  Buffer<int> item_;
  Buffer<double> lanes_;
  Buffer<bool> taken_;
};

}  // namespace
