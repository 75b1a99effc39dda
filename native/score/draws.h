// Pairs of random layouts for the paired-layout study. Every trial has a stream of its own, keyed by seed and number,
// so that neither chunks nor threads change a draw.
#pragma once

#include <cstdint>
#include <utility>

#include "core/buffer.h"
#include "core/random.h"
#include "score/problems.h"

namespace {

class PairDraws {
 public:
  explicit PairDraws(const Draws& draws)
      : draws_(draws), count_(draws.rows), grade_(draws.rows * draws.cols), row_(draws.rows), col_(draws.cols) {}

  void draw(uint64_t trial, uint8_t* left, uint8_t* right) {
    RandomStream stream(draws_.seed, trial);
    for (int k = 0; k < draws_.rows; ++k) {
      const uint64_t u = stream.next();
      int relevant = 1;  // of which every category has at least one, and never all
      while (relevant < draws_.cols - 1 && u >= draws_.up_to[relevant]) ++relevant;
      count_[k] = relevant;
      for (int item = 0; item < relevant; ++item)
        grade_[k * draws_.cols + item] =
            uint8_t(draws_.top_grade > 1 ? 1 + stream.below(uint32_t(draws_.top_grade)) : 1);
    }
    lay_out(stream, left);
    lay_out(stream, right);
  }

 private:
  void lay_out(RandomStream& stream, uint8_t* page) {
    for (int c = 0; c < draws_.rows * draws_.cols; ++c) page[c] = 0;
    for (int i = 0; i < draws_.rows; ++i) row_[i] = i;
    for (int k = 0; k < draws_.rows; ++k) {
      std::swap(row_[k], row_[k + int(stream.below(uint32_t(draws_.rows - k)))]);
      for (int j = 0; j < draws_.cols; ++j) col_[j] = j;
      for (int item = 0; item < count_[k]; ++item) {  // where the relevant ones go is all that matters
        std::swap(col_[item], col_[item + int(stream.below(uint32_t(draws_.cols - item)))]);
        page[row_[k] * draws_.cols + col_[item]] = grade_[k * draws_.cols + item];
      }
    }
  }

  Draws draws_;
  Buffer<int> count_;
  Buffer<uint8_t> grade_;
  Buffer<int> row_, col_;
};

}  // namespace
