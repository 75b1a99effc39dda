// Which categories can be on the best page, where there are more of them than rows.
#pragma once

#include <algorithm>

#include "buffer.h"
#include "sort.h"

namespace {

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

}  // namespace
