// The weights of a grid, ready for ideals: for a carousel of m items, each row's first m weights, largest first.
#pragma once

#include <cstdint>
#include <memory>

#include "core/buffer.h"
#include "core/simd.h"
#include "core/sort.h"

namespace {

struct RowTable {
  RowTable(const double* weights, int rows, int cols, int m)
      : stride(padded(rows)), m(m), weight(m * stride), prefix(0), falls(true), heaviest(0.0) {
    Sorter sorter(m);
    for (int i = 0; i < rows; ++i) {
      const double* row = sorter.descending(weights + i * cols, m);
      double sum = 0.0;
      for (int r = 0; r < m; ++r) {
        const int cell = r * stride + i;
        weight[cell] = row[r];
        sum += row[r];
        if (i > 0 && weight[cell - 1] < row[r]) falls = false;
      }
      heaviest = sum > heaviest ? sum : heaviest;
    }
  }

  const double* weights_of_rank(int r) const { return weight.at(r * stride); }

  // The sums of each row's n largest weights.
  const double* sums_of(int n) {
    if (prefix.size() == 0) {
      prefix = Buffer<double>((m + 1) * stride);
      for (int cell = 0; cell < m * stride; ++cell) prefix[cell + stride] = prefix[cell] + weight[cell];
    }
    return prefix.at(n * stride);
  }

  int stride;  // rows, padded to whole lanes with rows of weight 0
  int m;
  Buffer<double> weight;  // weight[r * stride + i]: the r-th largest of row i's first m weights
  Buffer<double> prefix;  // prefix[n * stride + i]: the sum of the n largest; made when first asked for
  bool falls;             // every rank's weight falls (or stays) from row to row
  double heaviest;        // the largest sum of a row's weights
};

// Tables by m, each built when a page first needs it. Very large grids have more of them than fit: then all are dropped
// and built again.
class RowTables {
 public:
  RowTables(const double* weights, int rows, int cols)
      : weights_(weights), rows_(rows), cols_(cols), table_(cols + 1) {}

  int rows() const { return rows_; }
  int cols() const { return cols_; }

  RowTable& of(int m) {
    if (!table_[m]) {
      const int64_t size = int64_t(m) * padded(rows_);
      if (size_ + size > kMostNumbers) clear();
      size_ += size;
      table_[m] = std::make_unique<RowTable>(weights_, rows_, cols_, m);
    }
    return *table_[m];
  }

 private:
  static constexpr int64_t kMostNumbers = int64_t(1) << 23;  // 64 MiB a thread

  void clear() {
    for (int m = 0; m < table_.size(); ++m) table_[m].reset();
    size_ = 0;
  }

  const double* weights_;
  int rows_, cols_;
  int64_t size_ = 0;
  Buffer<std::unique_ptr<RowTable>> table_;
};

}  // namespace
