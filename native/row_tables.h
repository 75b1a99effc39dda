// The weights of a grid, ready for ideals: for a carousel of m items, each row's first m weights, largest first.
#pragma once

#include <algorithm>

#include "buffer.h"
#include "lanes.h"

namespace {

// A type of our own keeps this std::sort from being shared with code for another instruction set.
struct Descending {
  bool operator()(double a, double b) const { return a > b; }
};

CAROUSEVAL_INLINE void sort_descending(double* first, int n) {
  if (n > 32) {
    std::sort(first, first + n, Descending());
    return;
  }
  for (int a = 1; a < n; ++a) {
    const double x = first[a];
    int b = a;
    for (; b > 0 && first[b - 1] < x; --b) first[b] = first[b - 1];
    first[b] = x;
  }
}

struct RowTable {
  RowTable(const double* weights, int rows, int cols, int m)
      : stride(padded(rows)), weight(m * stride), prefix((m + 1) * stride), falls(true) {
    Buffer<double> row(m);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < m; ++j) row[j] = weights[i * cols + j];
      sort_descending(row.at(0), m);
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
