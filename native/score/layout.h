// The ideal page itself: which item goes to which cell. Among equally good pages, the one whose rows, read from the
// top, come from the earliest sources; inside a row the earlier of two equal items gets the heavier (then earlier)
// cell.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/sort.h"
#include "score/ideal.h"

namespace {

// Rearranges a solved assignment into the first of the best ones, in the order of rows. Every best assignment uses
// only pairs without slack, whatever the prices, so it is enough to look among those.
class EarliestBest {
 public:
  EarliestBest(const Assignment& assignment, int n, WorkQueue& queue)
      : queue_(queue), assignment_(assignment), n_(n), owner_(n), place_(n), from_(n), reached_(n) {
    for (int j = 0; j < n; ++j) {
      owner_[j] = assignment.owner(j);
      place_[owner_[j]] = j;
    }
    for (int row = 0; row < n; ++row) improve(row);
  }

  int owner(int row) const { return owner_[row]; }

 private:
  // Rounding is judged by the terms at hand: small gains are not equal just because others are huge.
  bool tight(int k, int row) const {
    const int current = assignment_.place(k);
    const double here = assignment_.scores_of(k)[current], there = assignment_.scores_of(k)[row];
    const double terms = std::max(std::max(here, there),
                                  std::max(std::abs(assignment_.price(current)), std::abs(assignment_.price(row))));
    return (here - assignment_.price(current)) - (there - assignment_.price(row)) <= n_ * 0x1p-51 * terms;
  }

  void improve(int row) {
    for (int k = 0; owner_[row] != k; ++k) {
      const int vacated = place_[k];
      if (vacated < row || !tight(k, row)) continue;
      queue_.check_stop();
      if (!reassign(row, vacated)) continue;
      owner_[row] = k;
      place_[k] = row;
      return;
    }
  }

  // Moves the category of row `above` to a row below it, others along with it, until one takes the `vacated` row. Looks
  // breadth first: a chain of moves may be as long as the page.
  bool reassign(int above, int vacated) {
    for (int row = 0; row < n_; ++row) from_[row] = -1;
    int reached = 0;
    reached_[reached++] = owner_[above];
    for (int next = 0; next < reached && from_[vacated] < 0; ++next) {
      queue_.check_stop();
      for (int row = above + 1; row < n_; ++row) {
        if (from_[row] >= 0 || !tight(reached_[next], row)) continue;
        from_[row] = reached_[next];
        reached_[reached++] = owner_[row];
      }
    }
    if (from_[vacated] < 0) return false;
    for (int row = vacated; row != above;) {
      const int k = from_[row], left = place_[k];
      owner_[row] = k;
      place_[k] = row;
      row = left;
    }
    return true;
  }

  WorkQueue& queue_;
  const Assignment& assignment_;
  int n_;
  Buffer<int> owner_, place_;
  Buffer<int> from_;     // by row: the category that would move there, or -1
  Buffer<int> reached_;  // categories that would have to move
};

class IdealLayout {
 public:
  IdealLayout(const double* weights, int grid_rows, int grid_cols, int rows, int cols, WorkQueue& queue)
      : queue_(queue), weights_(weights), grid_rows_(grid_rows), grid_cols_(grid_cols),
        ideal_(weights, grid_rows, grid_cols, rows, cols, queue), items_(rows * cols), cells_(grid_rows * grid_cols) {}

  // Writes (row, col) of the source of every cell of the grid; -1, -1 where nothing stands.
  // Returns false where the page's gains are too large to be added up.
  bool write(const Page& page, Ideal kind, int64_t* source) {
    for (int c = 0; c < grid_rows_ * grid_cols_ * 2; ++c) source[c] = -1;
    if (kind == Ideal::kCategory) return write_category(page, source);
    write_unconstrained(page, source);
    return true;
  }

 private:
  void put(const Page& page, int item, int cell, int64_t* source) const {
    if (!page.held.bits(item, 1)) return;
    source[cell * 2] = item / page.cols;
    source[cell * 2 + 1] = item % page.cols;
  }

  bool write_category(const Page& page, int64_t* source) {
    const int n = CategoryIdeal::categories_of(page);
    if (ideal_.assign(page) == kInfinity) return false;
    const EarliestBest earliest(ideal_.assignment(), n, queue_);
    for (int i = 0; i < n; ++i) {
      const int k = earliest.owner(i), slots = page.held.last(k * page.cols, page.cols);
      rank_descending(page.gain.at(k * page.cols), slots, items_.at(0));
      rank_descending(weights_ + i * grid_cols_, slots, cells_.at(0));
      for (int r = 0; r < slots; ++r) put(page, k * page.cols + items_[r], i * grid_cols_ + cells_[r], source);
    }
    return true;
  }

  void write_unconstrained(const Page& page, int64_t* source) {
    rank_descending(page.gain.at(0), page.cells, items_.at(0));
    rank_descending(weights_, grid_rows_ * grid_cols_, cells_.at(0));
    int next = 0;
    for (int r = 0; r < page.cells; ++r)
      if (page.held.bits(items_[r], 1)) put(page, items_[r], cells_[next++], source);
  }

  WorkQueue& queue_;
  const double* weights_;
  int grid_rows_, grid_cols_;
  CategoryIdeal ideal_;
  Buffer<int> items_, cells_;
};

}  // namespace
