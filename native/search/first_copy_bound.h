// An upper bound on what the rows below can gain, given the set of rows above.
//
// Shared items have prices: each row that counts one pays its price, which is paid back once. So each row may choose
// the items it counts, and the best rows for the places that are left are an assignment. Prices are found once a page,
// by subgradient steps; for a set of rows, the items that count above are dropped.
#pragma once

#include <algorithm>

#include "core/simd.h"
#include "score/assignment.h"
#include "search/first_copy_page.h"

namespace {

class FirstCopyBound {
 public:
  static constexpr int kSteps = 60;  // towards the prices of a page

  FirstCopyBound(FirstCopyPage& page, const FirstCopySizes& most, WorkQueue& queue)
      : page_(page), queue_(queue), assignment_(queue), price_(most.items), best_price_(most.items), count_(most.items),
        shared_(most.items), value_(padded(int(most.rows))), number_(kMostLive) {}

  // Finds the shared items of a page; returns the number of steps that a bound takes, roughly.
  double begin_page() {
    for (int t = 0; t < page_.items(); ++t) count_[t] = 0;
    for (int row = 0; row < page_.height(); ++row)
      for (const FirstCopyMember* m = page_.members(row); m < page_.members_end(row); ++m) {
        price_[m->item] = 0.0;
        ++count_[m->item];
      }
    double steps = 0.0;
    shared_count_ = longest_ = 0;
    for (int row = 0; row < page_.height(); ++row) {
      int members = 0, shared = 0;
      for (const FirstCopyMember* m = page_.members(row); m < page_.members_end(row); ++m) {
        ++members;
        if (count_[m->item] == 1) continue;
        ++shared;
        if (count_[m->item] > 1) shared_[shared_count_++] = *m;
        count_[m->item] = -1;
      }
      steps += members * (1.0 + shared);
      longest_ = std::max(longest_, members);
    }
    return steps * (page_.height() / kLanes + 1) + 4.0 * page_.places() * page_.places();
  }

  // Finds prices; `found` is the value of an order of the rows.
  void find_prices(double found) {
    for (auto* values : {&gain_, &cost_}) values->reserve(longest_);
    item_.reserve(longest_);
    lanes_.reserve((longest_ + 1) * int64_t(kLanes));
    chosen_.reserve((longest_ + 1) * int64_t(longest_));
    double least = kInfinity, step = 1.0;
    for (int s = 0, failed = 0; s < kSteps; ++s) {
      queue_.check_stop();
      const double bound = rest(0, 0);
      if (bound < least) {
        failed = 0;
        least = bound;
        for (int n = 0; n < shared_count_; ++n) best_price_[shared_[n].item] = price_[shared_[n].item];
      } else if (++failed % kPatience == 0) {
        step *= 0.5;
      }
      if (bound <= found || !move_prices(step * (bound - found))) break;
    }
    for (int n = 0; n < shared_count_; ++n) price_[shared_[n].item] = best_price_[shared_[n].item];
  }

  // The most that can be gained below, when `depth` of the places to be filled are, and these rows are above.
  double rest(uint64_t above, int depth) {
    const int places = page_.places() - depth, from = page_.place(depth);
    double total = 0.0;
    for (int n = 0; n < shared_count_; ++n)
      if (FirstCopyPage::remains(shared_[n], above, from)) total += price_[shared_[n].item];
    assignment_.reserve(places, places);
    rows_ = 0;
    for (int bit = 0; bit < page_.live(); ++bit) {
      if (above >> bit & 1) continue;
      choose_members(page_.live_row(bit), above, from);
      const RowTable& table = page_.table(page_.live_row(bit));
      for (int v = from / kLanes * kLanes; v < page_.height(); v += kLanes) store(value_.at(v), best_values(table, v));
      number_[bit] = rows_;
      double* scores = assignment_.scores_of(rows_++);
      for (int i = 0; i < padded(places); ++i) scores[i] = i < places ? value_[page_.place(depth + i)] : 0.0;
    }
    assignment_.add_dummies(rows_);
    total += assignment_.solve();
    for (int row = from; row < page_.height(); ++row) {
      if (!page_.fixed(row) || page_.members(row) == page_.members_end(row)) continue;
      choose_members(row, above, from);
      total += best_values(page_.table(row), row / kLanes * kLanes)[row % kLanes];
    }
    return total;
  }

  // By how much the last bound falls if the place goes to this row, or (-1) to one without relevant items.
  double loss(int bit) const {
    const int k = bit < 0 ? rows_ : number_[bit], place = assignment_.place(k);
    const double* scores = assignment_.scores_of(k);
    return (scores[place] - assignment_.price(place)) - (scores[0] - assignment_.price(0));
  }

 private:
  // Raises the prices of items that several rows chose, and lowers those of items that none did.
  bool move_prices(double distance) {
    for (int n = 0; n < shared_count_; ++n) count_[shared_[n].item] = 0;
    for (int bit = 0; bit < page_.live(); ++bit) count_chosen(page_.live_row(bit), page_.place(assignment_.place(bit)));
    for (int row = 0; row < page_.height(); ++row)
      if (page_.fixed(row)) count_chosen(row, row);
    double norm = 0.0;
    for (int n = 0; n < shared_count_; ++n) {
      const int t = shared_[n].item, excess = count_[t] - 1;
      if (excess > 0 || price_[t] > 0) norm += double(excess) * excess;
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
    for (const FirstCopyMember* m = page_.members(row); m < page_.members_end(row); ++m) {
      if (!FirstCopyPage::remains(*m, above, from)) continue;
      gain_[members_] = m->gain;
      item_[members_] = m->item;
      cost_[members_++] = price_[m->item];
    }
  }

  // The best value of the row on eight places: the largest over how many members with a price are chosen.
  Lanes best_values(const RowTable& table, int v) {
    double* value = lanes_.at(0);
    store(value, fill(0.0));
    int certain = 0, choices = 0;
    for (int i = 0; i < members_; ++i) {
      const Lanes gain = fill(gain_[i]), cost = fill(cost_[i]);
      if (cost_[i] == 0.0) {
        for (int c = 0; c <= choices; ++c)
          store(value + c * kLanes, load(value + c * kLanes) + gain * load(table.weights_of_rank(certain + c) + v));
        ++certain;
        continue;
      }
      store(value + (choices + 1) * kLanes, fill(-kInfinity));
      for (int c = choices; c >= 0; --c) {
        const Lanes with = load(value + c * kLanes) + gain * load(table.weights_of_rank(certain + c) + v) - cost;
        store(value + (c + 1) * kLanes, max(load(value + (c + 1) * kLanes), with));
      }
      ++choices;
    }
    Lanes best = load(value);
    for (int c = 1; c <= choices; ++c) best = max(best, load(value + c * kLanes));
    return best;
  }

  // Counts the items that a row chooses on a place.
  void count_chosen(int row, int place) {
    choose_members(row, 0, 0);
    const RowTable& table = page_.table(row);
    const int64_t stride = members_ + 1;
    double* value = lanes_.at(0);  // by how many are chosen
    value[0] = 0.0;
    for (int i = 0; i < members_; ++i) {
      value[i + 1] = -kInfinity;
      for (int c = i + 1; c >= 0; --c) {
        const double with =
            c > 0 ? value[c - 1] + gain_[i] * table.weights_of_rank(c - 1)[place] - cost_[i] : -kInfinity;
        chosen_[i * stride + c] = cost_[i] == 0.0 || with > value[c];
        if (chosen_[i * stride + c]) value[c] = with;
      }
    }
    int64_t count = std::max_element(value, value + stride) - value;
    for (int i = members_ - 1; i >= 0; --i)
      if (chosen_[i * stride + count]) {
        ++count_[item_[i]];
        --count;
      }
  }

  static constexpr int kPatience = 4;  // steps without a better bound, before they are made smaller
  FirstCopyPage& page_;
  WorkQueue& queue_;
  Assignment assignment_;
  Buffer<double> price_, best_price_;  // by item
  Buffer<int> count_;                  // by item: rows that chose it
  Buffer<FirstCopyMember> shared_;     // a member of every item that several rows show
  int shared_count_ = 0;
  Buffer<double> value_;  // by place
  Buffer<int> number_;    // by live row: in the assignment
  int rows_ = 0, members_ = 0;
  int longest_ = 0;  // members of a row
  Buffer<double> gain_{0}, cost_{0}, lanes_{0};
  Buffer<int> item_{0};
  Buffer<bool> chosen_{0};
};

}  // namespace
