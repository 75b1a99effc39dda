// The gains of several categories, largest first: rank r of category k stands at [r][k], so that one sorting network
// sorts all categories at once, without a branch that could be mispredicted.
#pragma once

#include <memory>

#include "buffer.h"
#include "lanes.h"

namespace {

// Batcher's odd-even merge sort for n values, as a list of pairs to compare.
class Network {
 public:
  explicit Network(int n) : pair_(2 * visit(n, nullptr)) { visit(n, pair_.at(0)); }

  template <class Compare>
  CAROUSEVAL_INLINE void each(Compare compare) const {
    for (int p = 0; p < pair_.size(); p += 2) compare(pair_[p], pair_[p + 1]);
  }

 private:
  static int visit(int n, int* out) {
    int pairs = 0;
    for (int p = 1; p < n; p *= 2)
      for (int k = p; k >= 1; k /= 2)
        for (int j = k % p; j + k < n; j += 2 * k)
          for (int i = j; i < j + k && i + k < n; ++i)
            if (i / (2 * p) == (i + k) / (2 * p)) {
              if (out) out[2 * pairs] = i, out[2 * pairs + 1] = i + k;
              ++pairs;
            }
    return pairs;
  }
  Buffer<int> pair_;
};

class RankedGains {
 public:
  RankedGains(int most_categories, int most_items)
      : stride_(padded(most_categories)), gain_(most_items * stride_), count_(stride_), network_(most_items + 1) {}
  ~RankedGains() {
    for (int n = 0; n < network_.size(); ++n) delete network_[n];
  }

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
    if (!network_[depth_]) network_[depth_] = new Network(depth_);
    const int lanes = padded(categories);
    network_[depth_]->each([&](int high, int low) {
      for (int k = 0; k < lanes; k += kLanes) {
        const Lanes a = load(gain_.at(high * stride_ + k)), b = load(gain_.at(low * stride_ + k));
        store(gain_.at(high * stride_ + k), max(a, b));
        store(gain_.at(low * stride_ + k), min(a, b));
      }
    });
  }

 private:
  int stride_, depth_ = 0;
  Buffer<double> gain_;
  Buffer<int> count_;
  Buffer<Network*> network_;
};

}  // namespace
