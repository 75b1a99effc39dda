// The best page that a set of candidate items allows, each item counted once.
#pragma once

#include <algorithm>

#include "score/assignment.h"
#include "search/branch_and_bound.h"
#include "search/candidates.h"

namespace {

// Which categories can be on the best page, where there are more of them than rows.
// Each row's best `rows` categories suffice: the other rows of the page take one less than that.
class Shortlist {
 public:
  explicit Shortlist(int most_categories) : listed_(most_categories), sorted_(most_categories) {}

  // Marks categories by their scores, `stride` apart, on each row; of equal ones the first. Returns how many.
  int mark(const double* scores, int64_t stride, int categories, int rows) {
    int count = 0;
    for (int k = 0; k < categories; ++k) listed_[k] = false;
    for (int i = 0; i < rows; ++i) {
      for (int k = 0; k < categories; ++k) sorted_[k] = scores[k * stride + i];
      std::nth_element(sorted_.at(0), sorted_.at(rows - 1), sorted_.at(categories), Descending());
      const double least = sorted_[rows - 1];
      int equals = rows;  // as many of the equal ones as make `rows` in all
      for (int k = 0; k < categories; ++k) equals -= scores[k * stride + i] > least;
      for (int k = 0; k < categories; ++k) {
        const double score = scores[k * stride + i];
        if (score > least || (score == least && equals-- > 0)) count += !listed_[k], listed_[k] = true;
      }
    }
    return count;
  }

  bool operator[](int category) const { return listed_[category]; }

 private:
  Buffer<bool> listed_;
  Buffer<double> sorted_;
};

class CandidateIdeal {
 public:
  CandidateIdeal(const CandidateSets& all, WorkQueue& queue)
      : all_(all), most_(all), set_(all, most_), search_(all, most_, queue), page_(most_), assignment_(queue),
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
    const int free = set_.free(), places = set_.places();
    for (int a = free; a < set_.active(); ++a) page_.row[a] = set_.pin(a);
    const int lanes = padded(places);
    score_.reserve(int64_t(free) * lanes);
    for (int a = 0; a < free; ++a) score(a, lanes, score_.at(int64_t(a) * lanes));
    const bool choose = free > places;
    const int count = choose ? shortlist_.mark(score_.at(0), lanes, free, places) : free;
    assignment_.reserve(count, places);
    for (int a = 0, k = 0; a < free; ++a) {
      page_.row[a] = -1;
      if (choose && !shortlist_[a]) continue;
      assignment_.set_scores(k, score_.at(int64_t(a) * lanes), lanes);
      category_[k++] = a;
    }
    assignment_.add_dummies(count);
    assignment_.solve();
    for (int k = 0; k < count; ++k)
      if (assignment_.place(k) < places) page_.row[category_[k]] = set_.row(assignment_.place(k));
  }

  void score(int a, int lanes, double* out) {
    const RowTable& table = set_.table(a);
    const int places = set_.places(), depth = set_.depth(a);
    const Member* member = set_.members(a);
    for (int v = 0; v < lanes; v += kLanes) {
      Lanes score = fill(0.0);
      for (int r = 0; r < depth && set_.top_rows(); ++r)
        score = score + fill(member[r].gain) * load(table.weights_of_rank(r) + v);
      store(out + v, score);
    }
    for (int r = 0; r < depth && !set_.top_rows(); ++r)
      for (int j = 0; j < places; ++j) out[j] += member[r].gain * table.weights_of_rank(r)[set_.row(j)];
    for (int j = places; j < lanes; ++j) out[j] = 0.0;  // rows that are not open
  }

  const CandidateSets& all_;
  CandidateSizes most_;
  Candidates set_;
  BranchAndBound search_;
  Arrangement page_;
  Assignment assignment_;
  Buffer<double> score_;  // by free category and place
  Shortlist shortlist_;
  Buffer<int> category_;  // by number in the assignment
};

}  // namespace
