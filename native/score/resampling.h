// Sums over users under random signs, for the sign-flip test, and over users drawn a Poisson(1) number of times, for
// the bootstrap. What is drawn is keyed by (seed, user, permutation or resample) and sums are of integers, in floats
// below 2^53, so that every sum is exact: neither order nor pieces nor threads change it, and parts of the users add
// up.
#pragma once

#include <cstdint>

#include "core/buffer.h"
#include "core/random.h"
#include "core/work_queue.h"
#include "score/problems.h"

namespace {

constexpr int kTogether = 8;  // users whose signs under one permutation make a byte
constexpr int kPatterns = 1 << kTogether;
constexpr int kTile = 4;  // pairs whose sums stand side by side, as many as a register holds

// Bit p of word u becomes bit u of byte p: the signs of eight users under each of 64 permutations.
inline void transpose(const uint64_t* word, uint8_t* byte) {
  uint64_t block[8];
  for (int j = 0; j < 8; ++j) {
    block[j] = 0;
    for (int u = 0; u < 8; ++u) block[j] |= (word[u] >> (8 * j) & 255) << (8 * u);
  }
  for (int j = 0; j < 8; ++j) {  // 8 x 8 bits about their diagonal (Warren, Hacker's Delight)
    uint64_t x = block[j], t;
    t = (x ^ (x >> 7)) & 0x00AA00AA00AA00AAu;
    x ^= t ^ (t << 7);
    t = (x ^ (x >> 14)) & 0x0000CCCC0000CCCCu;
    x ^= t ^ (t << 14);
    t = (x ^ (x >> 28)) & 0x00000000F0F0F0F0u;
    block[j] = x ^ t ^ (t << 28);
  }
  for (int p = 0; p < 64; ++p) byte[p] = uint8_t(block[p / 8] >> (8 * (p % 8)));
}

// Eight users at a time: the 256 sums their signs can give are written down once, then every permutation looks its own
// up, which takes an eighth of the additions.
class SignSums {
 public:
  SignSums(const Flips& flips, WorkQueue& queue)
      : queue_(queue), flips_(flips), tiles_((flips.pairs + kTile - 1) / kTile), pattern_(64 * kFlipWords),
        sums_(64 * kFlipWords * tiles_ * kTile), table_(kPatterns * kTile) {}

  // The sums of the permutations of words [begin, end), at most kFlipWords.
  void add_up(int64_t begin, int64_t end, int64_t* out) {
    const int permutations = 64 * int(end - begin);
    for (int n = 0; n < permutations * tiles_ * kTile; ++n) sums_[n] = 0;
    for (int64_t first = 0; first < flips_.users; first += kTogether) {
      if (first % kCheckEvery == 0) queue_.check_stop();
      draw(first, begin, end);
      for (int tile = 0; tile < tiles_; ++tile) {
        tabulate(first, tile * kTile);
        add(sums_.at(tile * kTile * permutations), permutations);
      }
    }
    for (int p = 0; p < permutations && 64 * begin + p < flips_.permutations; ++p)
      for (int k = 0; k < flips_.pairs; ++k)
        out[(64 * begin + p) * flips_.pairs + k] = sums_[(k / kTile * permutations + p) * kTile + k % kTile];
  }

 private:
  void draw(int64_t first, int64_t begin, int64_t end) {
    uint64_t stream[kTogether], word[kTogether];
    for (int u = 0; u < kTogether; ++u)
      stream[u] = first + u < flips_.users ? user_stream(flips_.seed, flips_.user[first + u]) : 0;
    for (int64_t w = begin; w < end; ++w) {
      for (int u = 0; u < kTogether; ++u) word[u] = random_word(stream[u], w);
      transpose(word, pattern_.at(64 * int(w - begin)));
    }
  }

  // Entry q adds the differences of users whose bit in q is set and takes away the others.
  void tabulate(int64_t first, int pair) {
    int64_t twice[kTogether][kTile] = {};  // what lies beyond the last user or pair is 0
    for (int l = 0; l < kTile; ++l) table_[l] = 0;
    for (int u = 0; u < kTogether && first + u < flips_.users; ++u)
      for (int l = 0; l < kTile && pair + l < flips_.pairs; ++l) {
        const int64_t difference = flips_.differences[(first + u) * flips_.pairs + pair + l];
        twice[u][l] = 2 * difference;
        table_[l] -= difference;
      }
    for (int u = 0, bit = 1; u < kTogether; ++u, bit *= 2)
      for (int q = 0; q < bit; ++q)
        for (int l = 0; l < kTile; ++l) table_[(bit + q) * kTile + l] = table_[q * kTile + l] + twice[u][l];
  }

  void add(int64_t* __restrict sums, int permutations) {
    const int64_t* __restrict table = table_.at(0);
    const uint8_t* __restrict pattern = pattern_.at(0);
    for (int p = 0; p < permutations; ++p)
      for (int l = 0; l < kTile; ++l) sums[p * kTile + l] += table[pattern[p] * kTile + l];
  }

  WorkQueue& queue_;
  Flips flips_;
  int tiles_;
  Buffer<uint8_t> pattern_;
  Buffer<int64_t> sums_, table_;
};

constexpr int kDrawsPerWord = 4;  // of 16 bits each

// A draw is the number of these that 16 random bits reach: Poisson(1), each probability rounded to 2^-16, at most 8.
constexpr uint16_t kPoissonBounds[] = {24109, 48218, 60273, 64291, 65296, 65497, 65530, 65535};

class ResampledSums {
 public:
  ResampledSums(const Resamples& resamples, WorkQueue& queue)
      : queue_(queue), resamples_(resamples), bits_(kDrawsPerWord * kResampleWords),
        times_(kDrawsPerWord * kResampleWords), sums_(kDrawsPerWord * kResampleWords * int64_t(resamples.columns)) {}

  // The sums of the resamples of words [begin, end), at most kResampleWords.
  void add_up(int64_t begin, int64_t end, double* out) {
    const int columns = resamples_.columns, count = kDrawsPerWord * int(end - begin);
    for (int64_t n = 0; n < int64_t(count) * columns; ++n) sums_[n] = 0;
    for (int64_t user = 0; user < resamples_.users; ++user) {
      if (user % kCheckEvery == 0) queue_.check_stop();
      draw(user_stream(resamples_.seed, resamples_.user[user]), begin, end);
      for (int column = 0; column < columns; ++column)
        add(resamples_.values[user * columns + column], sums_.at(int64_t(column) * count), count);
    }
    for (int n = 0; n < count; ++n) {
      const int64_t resample = kDrawsPerWord * begin + n;
      if (resample >= resamples_.count) break;
      for (int column = 0; column < columns; ++column)
        out[resample * columns + column] = sums_[int64_t(column) * count + n];
    }
  }

 private:
  void draw(uint64_t stream, int64_t begin, int64_t end) {
    uint16_t* __restrict bits = bits_.at(0);
    double* __restrict times = times_.at(0);
    const int count = kDrawsPerWord * int(end - begin);
    for (int64_t w = begin; w < end; ++w) {
      const uint64_t word = random_word(stream, w);
      for (int j = 0; j < kDrawsPerWord; ++j) bits[kDrawsPerWord * (w - begin) + j] = uint16_t(word >> (16 * j));
    }
    for (int n = 0; n < count; ++n) {
      int reached = 0;
      for (const uint16_t bound : kPoissonBounds) reached += bits[n] >= bound;
      times[n] = reached;
    }
  }

  void add(double value, double* __restrict sums, int count) {
    const double* __restrict times = times_.at(0);
    for (int n = 0; n < count; ++n) sums[n] += times[n] * value;
  }

  WorkQueue& queue_;
  Resamples resamples_;
  Buffer<uint16_t> bits_;
  Buffer<double> times_, sums_;
};

}  // namespace
