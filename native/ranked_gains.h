// The gains of several categories, largest first: rank r of category k stands at [r][k], so that one sorting network
// sorts all categories at once.
#pragma once

#include "buffer.h"
#include "simd.h"
#include "sort.h"

namespace {

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

}  // namespace
