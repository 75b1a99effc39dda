// Sorting without branches that could be mispredicted.
#pragma once

#include <algorithm>
#include <memory>

#include "core/buffer.h"
#include "core/simd.h"

namespace {

// Batcher's odd-even merge sort of n values, as a list of pairs to put in order.
class Network {
 public:
  explicit Network(int n) : pair_(2 * visit(n, nullptr)) { visit(n, pair_.at(0)); }

  template <class Order>
  CAROUSEVAL_INLINE void each(Order order) const {
    for (int p = 0; p < pair_.size(); p += 2) order(pair_[p], pair_[p + 1]);
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

// A type of our own keeps std::sort from being shared with code for another instruction set.
struct Descending {
  bool operator()(double a, double b) const { return a > b; }
};

// Orders indices by their values, largest first, equal ones as they are numbered.
struct LargerValue {
  const double* value;
  bool operator()(int a, int b) const { return value[a] != value[b] ? value[a] > value[b] : a < b; }
};

// Indices 0..n-1 in that order.
inline void rank_descending(const double* value, int n, int* order) {
  for (int i = 0; i < n; ++i) order[i] = i;
  std::sort(order, order + n, LargerValue{value});
}

// Networks by size, each built when first needed; past kMost values std::sort is the better way.
class Networks {
 public:
  explicit Networks(int most) : network_((most < kMost ? most : kMost) + 1), column_(most > kMost ? most : 0) {}

  // Sorts each of `lanes` columns (a multiple of 8) of a table with n rows, largest first.
  void sort_columns(double* table, int n, int stride, int lanes) {
    if (n > kMost) return sort_one_by_one(table, n, stride, lanes);
    if (!network_[n]) network_[n] = std::make_unique<Network>(n);
    network_[n]->each([&](int high, int low) CAROUSEVAL_INLINE_LAMBDA {
      double *above = table + high * stride, *below = table + low * stride;
      for (int k = 0; k < lanes; k += kLanes) {
        const Lanes a = load(above + k), b = load(below + k);
        store(above + k, max(a, b));
        store(below + k, min(a, b));
      }
    });
  }

 private:
  static constexpr int kMost = 256;

  void sort_one_by_one(double* table, int n, int stride, int lanes) {
    for (int k = 0; k < lanes; ++k) {
      for (int r = 0; r < n; ++r) column_[r] = table[r * stride + k];
      std::sort(column_.at(0), column_.at(n), Descending());
      for (int r = 0; r < n; ++r) table[r * stride + k] = column_[r];
    }
  }

  Buffer<std::unique_ptr<Network>> network_;
  Buffer<double> column_;
};

// Sorts lists of numbers that are 0 or more. Eight columns are sorted at once by a network; then runs of columns are
// merged, one lane next to the other, by bitonic steps across lanes and the network again inside them.
class Sorter {
 public:
  explicit Sorter(int most) : networks_(padded(most) / kLanes), table_(padded(most)), sorted_(padded(most)) {}

  // Returns the n values, largest first, and zeros up to whole lanes; valid until the next call.
  const double* descending(const double* values, int n) {
    const int length = padded(n) / kLanes;
    double* table = table_.at(0);
    for (int c = 0; c < n; ++c) table[c] = values[c];
    for (int c = n; c < length * kLanes; ++c) table[c] = 0.0;
    const auto sort_columns = [&] { networks_.sort_columns(table, length, kLanes, kLanes); };

    sort_columns();
    cross_reversed<1>(length);
    sort_columns();
    cross_reversed<3>(length);
    cross<1>(length);
    sort_columns();
    cross_reversed<7>(length);
    cross<2>(length);
    cross<1>(length);
    sort_columns();
    for (int r = 0; r < length; ++r)
      for (int l = 0; l < kLanes; ++l) sorted_[l * length + r] = table[r * kLanes + l];
    return sorted_.at(0);
  }

 private:
  // Two sorted runs side by side, of (x + 1) / 2 lanes each: the larger half goes to the first.
  template <int x>
  void cross_reversed(int length) {
    constexpr int bit = (x + 1) / 2;
    for (int r = 0, s = length - 1; r <= s; ++r, --s) {
      const Lanes a = load(table_.at(r * kLanes)), b = load(table_.at(s * kLanes));
      store(table_.at(r * kLanes), larger_first<bit>(a, crossed<x>(b)));
      store(table_.at(s * kLanes), larger_first<bit>(b, crossed<x>(a)));
    }
  }
  // A bitonic run of 2 x lanes: the larger half goes to the first x.
  template <int x>
  void cross(int length) {
    for (int c = 0; c < length * kLanes; c += kLanes) {
      const Lanes a = load(table_.at(c));
      store(table_.at(c), larger_first<x>(a, crossed<x>(a)));
    }
  }

  Networks networks_;
  Buffer<double> table_, sorted_;
};

}  // namespace
