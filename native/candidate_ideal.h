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
      : all_(all), most_(all), set_(all, most_), search_(all, most_), page_(most_), assignment_(std::max(most_.categories, all.grid_rows)),
        score_(0), listed_(most_.categories), sorted_(most_.categories) {}

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
    const int free = set_.free(), columns = set_.columns(), n = std::max(free, columns);
    for (int a = free; a < set_.active(); ++a) page_.row[a] = set_.pin(a);
    for (int a = 0; a < free; ++a) scores(a, n);
    for (int a = free; a < n; ++a)
      for (int v = 0; v < n; v += kLanes) store(assignment_.scores_of(a) + v, fill(0.0));
    assignment_.solve(n);
    for (int a = 0; a < free; ++a) page_.row[a] = assignment_.place(a) < columns ? set_.row(assignment_.place(a)) : -1;
  }

  void scores(int a, int n) {
    const RowTable& table = set_.table(a);
    double* out = assignment_.scores_of(a);
    const int columns = set_.columns(), depth = set_.depth(a);
    const Member* member = set_.members(a);
    if (!set_.top_rows()) {
      for (int j = 0; j < padded(n); ++j) out[j] = 0.0;
      for (int r = 0; r < depth; ++r)
        for (int j = 0; j < columns; ++j) out[j] += member[r].gain * table.weights_of_rank(r)[set_.row(j)];
      return;
    }
    for (int v = 0; v < padded(n); v += kLanes) {
      Lanes score = fill(0.0);
      for (int r = 0; r < depth && v < columns; ++r) score = score + fill(member[r].gain) * load(table.weights_of_rank(r) + v);
      store(out + v, score);
    }
    for (int j = columns; j < padded(n); ++j) out[j] = 0.0;  // rows past the open ones
  }

  const CandidateSets& all_;
  CandidateSizes most_;
  Candidates set_;
  PageSearch search_;
  Arrangement page_;
  Assignment assignment_;
  Buffer<double> score_;
  Buffer<bool> listed_;
  Buffer<double> sorted_;
};

}  // namespace
