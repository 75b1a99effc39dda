// The best page that a set of candidate items allows, each item counted once.
#pragma once

#include <algorithm>

#include "assignment.h"
#include "branch_and_bound.h"
#include "candidates.h"
#include "shortlist.h"

namespace {

class CandidateIdeal {
 public:
  CandidateIdeal(const CandidateSets& all, Pieces& pieces)
      : all_(all), most_(all), set_(all, most_), search_(all, most_, pieces), page_(most_), assignment_(pieces),
        score_(0), shortlist_(most_.categories), category_(most_.categories) {}

  void solve(int64_t p, const CandidatePages& out) {
    set_.read(all_, p);
    int32_t* row = out.row + all_.category_offsets[p];
    int32_t* item_category = out.item_category + all_.item_offsets[p];
    for (int k = 0; k < set_.labels(); ++k) row[k] = -1;
    for (int t = 0; t < set_.items(); ++t) item_category[t] = -1;
    if (set_.too_large()) {
      out.best[p] = out.bound[p] = kInfinity;
      return;
    }
    if (set_.coupled() > 0) {
      out.best[p] = search_.solve(set_, page_);
      out.bound[p] = search_.bound();
      for (int t = 0; t < set_.items(); ++t)
        if (page_.category[t] >= 0) item_category[t] = set_.label(page_.category[t]);
    } else {
      assign();
      out.best[p] = out.bound[p] = worth(set_, page_, true);
      for (int a = 0; a < set_.active(); ++a)
        for (int s = 0; page_.row[a] >= 0 && s < set_.depth(a); ++s)
          item_category[set_.members(a)[s].item] = set_.label(a);
    }
    for (int a = 0; a < set_.active(); ++a) row[set_.label(a)] = page_.row[a];
  }

 private:
  // Rows do not compete for items: an assignment of all members at once.
  void assign() {
    const int free = set_.free(), columns = set_.columns();
    for (int a = free; a < set_.active(); ++a) page_.row[a] = set_.pin(a);
    const int lanes = padded(columns);
    score_.reserve(int64_t(free) * lanes);
    for (int a = 0; a < free; ++a) score(a, lanes, score_.at(int64_t(a) * lanes));
    const bool choose = free > columns;
    const int count = choose ? shortlist_.mark(score_.at(0), lanes, free, columns) : free;
    assignment_.reserve(count, columns);
    for (int a = 0, k = 0; a < free; ++a) {
      page_.row[a] = -1;
      if (choose && !shortlist_[a]) continue;
      assignment_.set_scores(k, score_.at(int64_t(a) * lanes), lanes);
      category_[k++] = a;
    }
    assignment_.add_dummies(count);
    assignment_.solve();
    for (int k = 0; k < count; ++k)
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

  const CandidateSets& all_;
  CandidateSizes most_;
  Candidates set_;
  BranchAndBound search_;
  Arrangement page_;
  Assignment assignment_;
  Buffer<double> score_;  // by free category and column
  Shortlist shortlist_;
  Buffer<int> category_;  // by number in the assignment
};

}  // namespace
