// The weights of a grid, ready for ideals: for a carousel of m items, each row's first m weights, largest first.
#pragma once

#include "buffer.h"
#include "lanes.h"
#include "sort.h"

namespace {

struct RowTable {
  RowTable(const double* weights, int rows, int cols, int m)
      : stride(padded(rows)), weight(m * stride), prefix((m + 1) * stride), falls(true) {
    Sorter sorter(m);
    for (int i = 0; i < rows; ++i) {
      const double* row = sorter.descending(weights + i * cols, m);
      for (int r = 0; r < m; ++r) {
        const int at = r * stride + i;
        weight[at] = row[r];
        prefix[at + stride] = prefix[at] + row[r];
        if (i > 0 && weight[at - 1] < row[r]) falls = false;
      }
    }
  }

  const double* weights_of_rank(int r) const { return weight.at(r * stride); }
  const double* sums_of(int n) const { return prefix.at(n * stride); }

  int stride;             // rows, padded to whole lanes with rows of weight 0
  Buffer<double> weight;  // weight[r * stride + i]: the r-th largest of row i's first m weights
  Buffer<double> prefix;  // prefix[n * stride + i]: the sum of the n largest
  bool falls;             // every rank's weight falls (or stays) from row to row
};

// Tables by m, each built when a page first needs it.
class RowTables {
 public:
  RowTables(const double* weights, int rows, int cols) : weights_(weights), rows_(rows), cols_(cols), table_(cols + 1) {}
  ~RowTables() {
    for (int m = 0; m < table_.size(); ++m) delete table_[m];
  }

  int cols() const { return cols_; }

  const RowTable& of(int m) {
    if (!table_[m]) table_[m] = new RowTable(weights_, rows_, cols_, m);
    return *table_[m];
  }

 private:
  const double* weights_;
  int rows_, cols_;
  Buffer<RowTable*> table_;
};

}  // namespace
