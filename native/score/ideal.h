// The best page that the items of a page allow.
#pragma once

#include <algorithm>

#include "core/sort.h"
#include "score/assignment.h"
#include "score/page.h"
#include "score/row_tables.h"

namespace {

// The gains of several categories, largest first: rank r of category k stands at [r][k], so that one sorting network
// sorts all categories at once.
class RankedGains {
 public:
  RankedGains(int most_categories, int most_items)
      : stride_(padded(most_categories)), gain_(most_items * stride_), count_(stride_), networks_(most_items) {}

  int depth() const { return depth_; }  // the largest number of gains in one category
  const double* of_rank(int r) const { return gain_.at(r * stride_); }

  void clear() {
    for (int c = 0; c < depth_ * stride_; c += kLanes) store(gain_.at(c), fill(0.0));
    for (int k = 0; k < stride_; ++k) count_[k] = 0;
    depth_ = 0;
  }
  void add(int category, double gain) { gain_[count_[category]++ * stride_ + category] = gain; }
  void sort(int categories) {
    for (int k = 0; k < categories; ++k) depth_ = count_[k] > depth_ ? count_[k] : depth_;
    networks_.sort_columns(gain_.at(0), depth_, stride_, padded(categories));
  }

 private:
  int stride_, depth_ = 0;
  Buffer<double> gain_;
  Buffer<int> count_;
  Networks networks_;
};

class CategoryIdeal {
 public:
  CategoryIdeal(const double* weights, int grid_rows, int grid_cols, int most_categories, int most_items,
                WorkQueue& queue)
      : tables_(weights, grid_rows, grid_cols), assignment_(queue), gains_(most_categories, most_items),
        slots_(most_categories), of_size_(most_items + 1) {}

  // Infinite where gains and weights are too large to be added up.
  double of_page(const Page& page) {
    if (page.full && page.uniform) return of_counts(page);
    return assign(page);
  }

  // Rows down to the last occupied one are the categories; a row's size is the column of its last item.
  double assign(const Page& page) {
    const int n = categories_of(page);
    gains_.clear();
    for (int k = 0; k < n; ++k) {
      slots_[k] = page.full ? page.cols : page.held.last(k * page.cols, page.cols);
      page.gaining.each(k * page.cols, page.cols, [&](int c) { gains_.add(k, page.gain[c]); });
    }
    return best(n);
  }

  const Assignment& assignment() const { return assignment_; }

  static int categories_of(const Page& page) {
    return page.full ? page.rows : (page.held.last(0, page.cells) + page.cols - 1) / page.cols;
  }

 private:
  static bool too_large(int n, double top, double heaviest) { return !(n * top * heaviest < 1e300); }

  // Full rows whose relevant items all gain the same: only their number matters. Where sorted weights fall from row to
  // row, more relevant items go higher and no table of scores is needed.
  double of_counts(const Page& page) {
    RowTable& table = tables_.of(page.cols);
    if (too_large(page.rows, page.top, table.heaviest)) return kInfinity;
    if (!table.falls) {
      assignment_.reserve(page.rows, page.rows);
      for (int k = 0; k < page.rows; ++k) {
        const double* sums = table.sums_of(page.gaining.count(k * page.cols, page.cols));
        set_scores(assignment_.scores_of(k), padded(page.rows), table, [&](int v) { return load(sums + v * kLanes); });
      }
      return page.top * assignment_.solve();
    }
    for (int k = 0; k < page.rows; ++k) ++of_size_[page.gaining.count(k * page.cols, page.cols)];
    double total = 0.0;
    int row = 0;
    for (int size = page.cols; size > 0; --size)
      for (; of_size_[size] > 0; --of_size_[size]) total += table.sums_of(size)[row++];
    of_size_[0] = 0;
    return page.top * total;
  }

  double best(int n) {
    gains_.sort(n);
    assignment_.reserve(n, n);
    for (int k = 0; k < n; ++k) {
      const RowTable& table = tables_.of(slots_[k]);
      const int depth = gains_.depth() < slots_[k] ? gains_.depth() : slots_[k];
      if (depth > 0 && too_large(n, gains_.of_rank(0)[k], table.heaviest)) return kInfinity;
      set_scores(assignment_.scores_of(k), padded(n), table, [&](int v) {
        Lanes score = fill(0.0);
        for (int r = 0; r < depth; ++r)
          score = score + fill(gains_.of_rank(r)[k]) * load(table.weights_of_rank(r) + v * kLanes);
        return score;
      });
    }
    return assignment_.solve();
  }

  // Scores of a category on every row, for as many lanes; rows past the grid's score 0.
  template <class Score>
  CAROUSEVAL_INLINE void set_scores(double* out, int lanes, const RowTable& table, Score score) {
    const int real = table.stride < lanes ? table.stride : lanes;
    for (int v = 0; v * kLanes < real; ++v) store(out + v * kLanes, score(v));
    for (int v = real / kLanes; v * kLanes < lanes; ++v) store(out + v * kLanes, fill(0.0));
  }

  RowTables tables_;
  Assignment assignment_;
  RankedGains gains_;
  Buffer<int> slots_;
  Buffer<int> of_size_;  // how many rows have so many relevant items; all 0 between pages
};

// The largest gains on the largest weights of the whole grid.
class UnconstrainedIdeal {
 public:
  UnconstrainedIdeal(const double* weights, int cells, int most_items)
      : sorter_(cells > most_items ? cells : most_items), weight_(padded(cells)), prefix_(cells + 1),
        gain_(most_items) {
    const double* sorted = sorter_.descending(weights, cells);
    for (int c = 0; c < cells; ++c) weight_[c] = sorted[c];
    for (int c = 0; c < cells; ++c) prefix_[c + 1] = prefix_[c] + weight_[c];
  }

  double of_page(const Page& page) {
    int count = 0;
    page.gaining.each(0, page.cells, [&](int c) { gain_[count++] = page.gain[c]; });
    if (page.uniform) return page.top * prefix_[count];
    return dot(sorter_.descending(gain_.at(0), count), weight_.at(0), count);
  }

 private:
  Sorter sorter_;
  Buffer<double> weight_, prefix_, gain_;
};

}  // namespace
