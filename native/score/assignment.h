// The best assignment of categories to rows.
//
// Sorting the categories by what the first row gives them over the last one is optimal when the table is inverse
// Monge, and nearly so on most pages. So sort, price the rows from neighbouring differences, and check the prices: if
// no category would gain by moving at those prices, the order is optimal (linear programming duality). Otherwise the
// categories that would move are taken off and put back one by one along shortest augmenting paths, starting from
// these prices, which leaves little to do.
//
// That takes a square table: places are the rows, and more that stand for no row. Where many more categories than rows
// would make it large, rows are given their categories one by one along shortest augmenting paths instead, and all
// categories without a row share one place.
#pragma once

#include <algorithm>
#include <stdexcept>

#include "core/buffer.h"
#include "core/simd.h"
#include "core/sort.h"
#include "core/work_queue.h"

namespace {

class Assignment {
 public:
  explicit Assignment(WorkQueue& queue) : queue_(queue) {}

  // Makes room for so many categories and rows, to be called before scores are set.
  void reserve(int categories, int rows) {
    n_ = std::max(categories, rows);
    crowded_ = categories > rows && categories > kMostSquare;
    places_ = crowded_ ? rows + 1 : n_;
    if (!crowded_ && n_ > kMostRows) throw std::length_error("a page with a category ideal has at most 10,000 rows");
    stride_ = padded(places_);
    score_.reserve(stride_ * n_);
    const int64_t size = padded(n_);
    if (size <= price_.size()) return;
    for (auto* values : {&price_, &blur_, &utility_, &key_, &distance_, &open_, &index_}) values->reserve(size);
    for (auto* values : {&order_, &owner_, &place_, &from_, &scanned_}) values->reserve(size);
    for (int k = 0; k < size; ++k) index_[k] = k;
  }

  // Scores of a category: the rows, then one or more places that stand for no row, all with the same score.
  int places() const { return places_; }
  double* scores_of(int category) { return score_.at(category * stride_); }
  const double* scores_of(int category) const { return score_.at(category * stride_); }

  // Sets the scores of a category on `lanes` rows (a multiple of 8), and 0 on the places past them.
  void set_scores(int category, const double* scores, int lanes) {
    double* out = scores_of(category);
    for (int v = 0; v < lanes; v += kLanes) store(out + v, load(scores + v));
    for (int v = lanes; v < places_; v += kLanes) store(out + v, fill(0.0));
  }
  // Dummy categories, which score 0 everywhere, take the rows that are left over.
  void add_dummies(int from) {
    for (int k = from; k < n_; ++k)
      for (int v = 0; v < places_; v += kLanes) store(scores_of(k) + v, fill(0.0));
  }

  int owner(int place) const { return owner_[place]; }
  double price(int place) const { return price_[place]; }
  const double* prices() const { return price_.at(0); }  // infinite in lanes past places()

  // The largest total over assignments of every row to a category of its own; place() and owner() tell who goes where.
  // Lanes past places() may hold anything finite.
  double solve() {
    if (crowded_) return solve_crowded();
    switch (padded(n_) / kLanes) {
      case 0: return 0.0;
      case 1: return solve_as<1>(n_);
      case 2: return solve_as<2>(n_);
      case 3: return solve_as<3>(n_);
      case 4: return solve_as<4>(n_);
      default: return solve_as<0>(n_);
    }
  }

  int place(int category) const { return place_[category]; }

 private:
  // order_: categories by what the first row gives them over the last, largest first, equal ones in order.
  template <int NV>
  void sort_by_key(int n) {
    for (int k = 0; k < n; ++k) key_[k] = scores_of(k)[0] - scores_of(k)[n - 1];
    if (!NV) {
      rank_descending(key_.at(0), n, order_.at(0));
      return;
    }
    // a category's place is the number of those before it: n compares of whole lanes, no branches
    Mask before[NV ? NV : 1];
    for (int v = 0; v < NV; ++v) before[v] = fill_bits(0);
    for (int k = 0; k < n; ++k) {
      const Lanes key = fill(key_[k]);
      for (int v = 0; v < NV; ++v) {
        const Lanes other = load(key_.at(v * kLanes));
        before[v] = before[v] + ((key > other) | ((key == other) & (load(index_.at(v * kLanes)) > fill(double(k)))));
      }
    }
    for (int k = 0; k < n; ++k) order_[-before[k / kLanes][k % kLanes]] = k;
  }

  template <int NV>
  double solve_as(int n) {
    const int nv = NV ? NV : padded(n) / kLanes;
    double* price = price_.at(0);
    sort_by_key<NV>(n);
    double total = 0.0;
    for (int i = 0; i < n; ++i) total += scores_of(order_[i])[i];

    price[n - 1] = 0.0;
    for (int j = n; j < nv * kLanes; ++j) price[j] = kInfinity;
    for (int i = n - 2; i >= 0; --i) {
      const double* here = scores_of(order_[i]) + i;
      const double* next = scores_of(order_[i + 1]) + i;
      price[i] = price[i + 1] + 0.5 * ((here[0] - here[1]) + (next[0] - next[1]));
    }
    // rounding may blur a comparison by this much, relative to its own terms: a small gain beside a huge one counts
    for (int v = 0; v < nv; ++v) {
      const Lanes p = load(price + v * kLanes);
      store(blur_.at(v * kLanes), select(p < fill(kInfinity), fill(kBlur) * max(p, fill(0.0) - p), fill(0.0)));
    }
    Mask moves = fill_bits(0);
    for (int i = 0; i < n; ++i) {
      const int k = order_[i];
      owner_[i] = k;
      place_[k] = i;
      moves = moves | would_move<NV>(n, k, i);
    }
    if (!any(moves)) return total;

    int free = 0;
    for (int i = 0; i < n; ++i) {
      const int k = order_[i];
      Lanes best = fill(-kInfinity);
      for (int v = 0; v < nv; ++v) best = max(best, load(scores_of(k) + v * kLanes) - load(price + v * kLanes));
      utility_[k] = largest(best);
      if (any(would_move<NV>(n, k, i))) {
        owner_[i] = -1;
        order_[free++] = k;
      }
    }
    for (int f = 0; f < free; ++f) {
      if (!NV) queue_.check_stop();
      augment<NV>(n, order_[f]);
    }
    total = 0.0;
    for (int i = 0; i < n; ++i) total += scores_of(owner(i))[i];
    return total;
  }

  // Rows that category k would rather have than row i, at today's prices.
  template <int NV>
  CAROUSEVAL_INLINE Mask would_move(int n, int k, int i) const {
    const int nv = NV ? NV : padded(n) / kLanes;
    const double here = scores_of(k)[i];
    const Lanes enough = fill(here - price_[i] + (kBlur * here + blur_[i]));
    Mask moves = fill_bits(0);
    for (int v = 0; v < nv; ++v) {
      const Lanes there = load(scores_of(k) + v * kLanes) - load(price_.at(v * kLanes));
      moves = moves | (there > enough + load(blur_.at(v * kLanes)));
    }
    return moves;
  }

  // Dijkstra over rows from one free category; distance_ is what a category would lose at today's prices.
  template <int NV>
  void augment(int n, int start) {
    const int nv = NV ? NV : padded(n) / kLanes;
    double* distance = distance_.at(0);
    double* open = open_.at(0);  // the same, infinite for rows already reached
    for (int v = 0; v < nv; ++v) {
      const Lanes d = fill(utility_[start]) + load(price_.at(v * kLanes)) - load(scores_of(start) + v * kLanes);
      store(distance + v * kLanes, d);
      store(open + v * kLanes, d);
      for (int l = 0; l < kLanes; ++l) from_[v * kLanes + l] = start;
    }
    int scanned = 0, row = 0;
    double d = 0.0;
    while (scanned < n) {  // a free row is always found
      Lanes least = load(open);
      for (int v = 1; v < nv; ++v) least = min(least, load(open + v * kLanes));
      d = smallest(least);
      row = 0;
      for (int v = 0; v < nv; ++v) {
        const unsigned bits = bitmask(load(open + v * kLanes) == fill(d));
        if (bits) {
          row = v * kLanes + lowest_bit(bits);
          break;
        }
      }
      const int k = owner(row);
      if (k < 0) break;
      scanned_[scanned++] = row;
      open[row] = kInfinity;
      distance[row] = d;
      const Lanes base = fill(d + utility_[k]);
      for (int v = 0; v < nv; ++v) {
        const Lanes there = base + load(price_.at(v * kLanes)) - load(scores_of(k) + v * kLanes);
        const Lanes now = load(open + v * kLanes);
        const Mask nearer = (there < now) & (now < fill(kInfinity));
        store(open + v * kLanes, select(nearer, there, now));
        for (unsigned bits = bitmask(nearer); bits; bits &= bits - 1) from_[v * kLanes + lowest_bit(bits)] = k;
      }
    }
    utility_[start] -= d;
    for (int s = 0; s < scanned; ++s) {
      const int j = scanned_[s];
      price_[j] += d - distance[j];
      utility_[owner(j)] -= d - distance[j];
    }
    for (;;) {  // hand rows over along the path
      const int k = from_[row];
      const int left = place_[k];
      owner_[row] = k;
      place_[k] = row;
      if (k == start) break;
      row = left;
    }
  }

  double solve_crowded() {
    const int rows = places_ - 1;
    for (int j = 0; j < stride_; ++j) price_[j] = j < places_ ? 0.0 : kInfinity;
    for (int k = 0; k < n_; ++k) {
      utility_[k] = 0.0;
      place_[k] = rows;
    }
    for (int row = 0; row < rows; ++row) give_category(row);
    double total = 0.0;
    for (int k = 0; k < n_; ++k) total += scores_of(k)[place_[k]];
    return total;
  }

  // Dijkstra over categories from one row, up to a category without a row. Here utility_ is what a category has over
  // having no row, at today's prices, and distance_ what is lost by taking one from its row.
  void give_category(int start) {
    const int rows = places_ - 1;
    for (int k = 0; k < n_; ++k) {
      distance_[k] = kInfinity;
      open_[k] = 1.0;
    }
    int scanned = 0, row = start, found;
    double d = 0.0;
    for (;;) {
      queue_.check_stop();
      found = -1;
      for (int k = 0; k < n_; ++k) {
        if (open_[k] == 0.0) continue;
        const double* score = scores_of(k);
        const double there = d + (price_[row] + utility_[k] - (score[row] - score[rows]));
        if (there < distance_[k]) {
          distance_[k] = there;
          from_[k] = row;
        }
        if (found < 0 || distance_[k] < distance_[found]) found = k;
      }
      d = distance_[found];
      if (place_[found] == rows) break;
      open_[found] = 0.0;
      scanned_[scanned++] = found;
      row = place_[found];
    }
    price_[start] -= d;
    for (int s = 0; s < scanned; ++s) {
      const int k = scanned_[s];
      price_[place_[k]] -= d - distance_[k];
      utility_[k] += d - distance_[k];
    }
    for (int k = found;;) {
      row = from_[k];
      const int left = owner_[row];
      owner_[row] = k;
      place_[k] = row;
      if (row == start) return;
      k = left;
    }
  }

  static constexpr double kBlur = 0x1p-50;
  static constexpr int kMostSquare = 256;   // categories, where rows are fewer
  static constexpr int kMostRows = 10'000;  // whose square table takes 800 MB
  WorkQueue& queue_;
  int n_ = 0;             // the larger of categories and rows
  int places_ = 0;        // of the table
  bool crowded_ = false;  // the last place stands for all categories without a row
  int64_t stride_ = 0;
  Buffer<double> score_{0}, price_{0}, blur_{0}, utility_{0}, key_{0}, distance_{0}, open_{0}, index_{0};
  Buffer<int> order_{0}, owner_{0}, place_{0}, from_{0}, scanned_{0};
};

}  // namespace
