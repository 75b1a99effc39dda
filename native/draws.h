// Pairs of random layouts for the paired-layout study. Every trial has a stream of its own, keyed by seed and number,
// so that neither chunks nor threads change a draw.
#pragma once

#include <cstdint>

#include "buffer.h"
#include "kernels.h"
#include "splitmix.h"

namespace {

// xoshiro256** (Blackman and Vigna), its state filled by splitmix64.
class Stream {
 public:
  Stream(uint64_t seed, uint64_t trial) {
    uint64_t x =
        splitmix(splitmix(seed + kGolden) + trial * kGolden);  // mixed twice: neighbours have nothing in common
    for (uint64_t& word : state_) word = splitmix(x += kGolden);
  }

  uint64_t next() {
    const uint64_t out = rotated(state_[1] * 5, 7) * 9, shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotated(state_[3], 45);
    return out;
  }

  // A whole number below n, by multiplication with rejection (Lemire), which leaves no bias.
  uint32_t below(uint32_t n) {
    uint64_t product = (next() >> 32) * n;
    if (uint32_t(product) < n)
      for (const uint32_t least = (0u - n) % n; uint32_t(product) < least;) product = (next() >> 32) * n;
    return uint32_t(product >> 32);
  }

 private:
  static uint64_t rotated(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  uint64_t state_[4];
};

class PairDraws {
 public:
  explicit PairDraws(const Draws& draws)
      : draws_(draws), count_(draws.rows), grade_(draws.rows * draws.cols), row_(draws.rows), col_(draws.cols) {}

  void draw(uint64_t trial, uint8_t* one, uint8_t* other) {
    Stream stream(draws_.seed, trial);
    for (int k = 0; k < draws_.rows; ++k) {
      const uint64_t u = stream.next();
      int relevant = 1;  // of which every category has at least one, and never all
      while (relevant < draws_.cols - 1 && u >= draws_.up_to[relevant]) ++relevant;
      count_[k] = relevant;
      for (int item = 0; item < relevant; ++item)
        grade_[k * draws_.cols + item] =
            uint8_t(draws_.top_grade > 1 ? 1 + stream.below(uint32_t(draws_.top_grade)) : 1);
    }
    lay_out(stream, one);
    lay_out(stream, other);
  }

 private:
  void lay_out(Stream& stream, uint8_t* page) {
    for (int c = 0; c < draws_.rows * draws_.cols; ++c) page[c] = 0;
    for (int i = 0; i < draws_.rows; ++i) row_[i] = i;
    for (int k = 0; k < draws_.rows; ++k) {
      swap(row_, k, k + int(stream.below(uint32_t(draws_.rows - k))));
      for (int j = 0; j < draws_.cols; ++j) col_[j] = j;
      for (int item = 0; item < count_[k]; ++item) {  // where the relevant ones go is all that matters
        swap(col_, item, item + int(stream.below(uint32_t(draws_.cols - item))));
        page[row_[k] * draws_.cols + col_[item]] = grade_[k * draws_.cols + item];
      }
    }
  }
  static void swap(Buffer<int>& values, int a, int b) {
    const int kept = values[a];
    values[a] = values[b];
    values[b] = kept;
  }

  Draws draws_;
  Buffer<int> count_;
  Buffer<uint8_t> grade_;
  Buffer<int> row_, col_;
};

}  // namespace
