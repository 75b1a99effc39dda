// Spearman's rho and Pearson's r of many candidates with one target.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/buffer.h"
#include "core/simd.h"

namespace {

// Ranks with ties averaged, as whole numbers: twice the distance from the mean rank.
class Ranks {
 public:
  explicit Ranks(int n) : n_(n), sorted_(n), twice_(n) {}

  void rank(const double* values) {
    squares_ = 0;
    for (int c = 0; c < n_; ++c) {
      if (values[c] != values[c]) return;  // NaN has no rank: like a constant, it has no correlation
      sorted_[c] = {values[c], c};
    }
    std::sort(sorted_.at(0), sorted_.at(n_), [](const Entry& a, const Entry& b) { return a.value < b.value; });
    for (int first = 0, last; first < n_; first = last) {
      for (last = first + 1; last < n_ && sorted_[last].value == sorted_[first].value;) ++last;
      const int64_t twice = first + last - n_;  // from the mean: sums stay below n^3
      for (int c = first; c < last; ++c) twice_[sorted_[c].cell] = twice;
      squares_ += twice * twice * (last - first);
    }
  }

  // In whole numbers up to the last step, so that equal correlations are equal to the bit. NaN for a constant.
  double correlation(const Ranks& other) const {
    int64_t products = 0;
    for (int c = 0; c < n_; ++c) products += twice_[c] * other.twice_[c];
    const double spread = double(squares_), others = double(other.squares_);
    return spread > 0 && others > 0 ? double(products) / std::sqrt(spread) / std::sqrt(others) : kNaN;
  }

 private:
  struct Entry {
    double value;
    int cell;
  };

  int64_t n_, squares_ = 0;
  Buffer<Entry> sorted_;
  Buffer<int64_t> twice_;
};

inline double mean(const double* values, int n) {
  double total = 0.0;
  for (int c = 0; c < n; ++c) total += values[c];
  return total / n;
}

inline double pearson(const double* a, const double* b, int n) {
  const double mean_a = mean(a, n), mean_b = mean(b, n);
  double products = 0.0, squares_a = 0.0, squares_b = 0.0;
  for (int c = 0; c < n; ++c) {
    const double x = a[c] - mean_a, y = b[c] - mean_b;
    products += x * y;
    squares_a += x * x;
    squares_b += y * y;
  }
  return products / std::sqrt(squares_a) / std::sqrt(squares_b);
}

}  // namespace
