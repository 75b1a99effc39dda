// The best page that a set of candidate items allows, each item counted once or in all its homes.
#pragma once

#include <algorithm>

#include "assignment.h"
#include "candidates.h"
#include "page_search.h"

namespace {

class CandidateIdeal {
 public:
  explicit CandidateIdeal(const CandidateSets& all)
      : all_(all), most_(all), set_(all, most_), search_(all, most_), page_(most_),
        assignment_(std::max(most_.categories, all.grid_rows)), score_(0), listed_(most_.categories),
        category_(most_.categories), sorted_(most_.categories) {}

  void solve(int64_t p, const CandidatePages& out) {
    set_.read(all_, p);
    int32_t* row = out.row + all_.category_offsets[p];
    int32_t* home = out.home + all_.item_offsets[p];
    for (int k = 0; k < set_.labels(); ++k) row[k] = -1;
    for (int t = 0; t < set_.items(); ++t) home[t] = -1;
    if (set_.too_large()) {
      out.best[p] = out.bound[p] = kInfinity;
      return;
    }
    if (set_.coupled() > 0) {
      out.best[p] = search_.solve(set_, page_);
      out.bound[p] = search_.bound();
      for (int t = 0; t < set_.items(); ++t)
        if (page_.home[t] >= 0) home[t] = set_.label(page_.home[t]);
    } else {
      assign();
      out.best[p] = out.bound[p] = worth(set_, page_, true);
      if (all_.once)
        for (int a = 0; a < set_.active(); ++a)
          for (int s = 0; page_.row[a] >= 0 && s < set_.depth(a); ++s) home[set_.members(a)[s].item] = set_.label(a);
    }
    for (int a = 0; a < set_.active(); ++a) row[set_.label(a)] = page_.row[a];
  }

 private:
  // Rows do not compete for items: an assignment of all members at once.
  void assign() {
    const int free = set_.free(), columns = set_.columns();
    for (int a = free; a < set_.active(); ++a) page_.row[a] = set_.pin(a);
    const int lanes = padded(columns);
    if (score_.size() < free * lanes) score_ = Buffer<double>(free * lanes);
    for (int a = 0; a < free; ++a) score(a, lanes, score_.at(a * lanes));
    const int shown = free > columns ? shortlist(lanes) : free, n = std::max(shown, columns);
    for (int a = 0, k = 0; a < free; ++a) {
      page_.row[a] = -1;
      if (free > columns && !listed_[a]) continue;
      double* out = assignment_.scores_of(k);
      for (int v = 0; v < lanes; v += kLanes) store(out + v, load(score_.at(a * lanes + v)));
      for (int v = lanes; v < n; v += kLanes) store(out + v, fill(0.0));
      category_[k++] = a;
    }
    for (int k = shown; k < n; ++k)
      for (int v = 0; v < n; v += kLanes) store(assignment_.scores_of(k) + v, fill(0.0));
    assignment_.solve(n);
    for (int k = 0; k < shown; ++k)
      if (assignment_.place(k) < columns) page_.row[category_[k]] = set_.row(assignment_.place(k));
  }

  void score(int a, int lanes, double* out) {
    const RowTable& table = set_.table(a);
    const int columns = set_.columns(), depth = set_.depth(a);
    const Member* member = set_.members(a);
    for (int v = 0; v < lanes; v += kLanes) {
      Lanes score = fill(0.0);
      for (int r = 0; r < depth && set_.top_rows(); ++r)
        score = score + fill(member[r].gain) * load(table.weights_of_rank(r) + v);
      store(out + v, score);
    }
    for (int r = 0; r < depth && !set_.top_rows(); ++r)
      for (int j = 0; j < columns; ++j) out[j] += member[r].gain * table.weights_of_rank(r)[set_.row(j)];
    for (int j = columns; j < lanes; ++j) out[j] = 0.0;  // rows that are not open
  }

  // Marks the categories worth considering, each column's best ones (see CategoryIdeal); returns their number.
  int shortlist(int lanes) {
    const int free = set_.free(), columns = set_.columns();
    int kept = 0;
    for (int a = 0; a < free; ++a) listed_[a] = false;
    for (int j = 0; j < columns; ++j) {
      for (int a = 0; a < free; ++a) sorted_[a] = score_[a * lanes + j];
      std::nth_element(sorted_.at(0), sorted_.at(columns - 1), sorted_.at(free), Descending());
      const double least = sorted_[columns - 1];
      int equals = columns;
      for (int a = 0; a < free; ++a) equals -= score_[a * lanes + j] > least;
      for (int a = 0; a < free; ++a) {
        const double here = score_[a * lanes + j];
        if (here > least || (here == least && equals-- > 0)) kept += !listed_[a], listed_[a] = true;
      }
    }
    return kept;
  }

  const CandidateSets& all_;
  CandidateSizes most_;
  Candidates set_;
  PageSearch search_;
  Arrangement page_;
  Assignment assignment_;
  Buffer<double> score_;   // by free category and column
  Buffer<bool> listed_;
  Buffer<int> category_;
  Buffer<double> sorted_;
};

}  // namespace
