// Sums of differences under random signs, for the sign-flip test. A sign is a bit of a counter-based generator, keyed
// by (seed, user, permutation), and sums are of integers: neither order nor pieces nor threads change them, and sums
// over parts of the users add up.
#pragma once

#include <cstdint>

#include "buffer.h"
#include "kernels.h"
#include "splitmix.h"

namespace {

constexpr int kTogether = 8;  // users whose signs under one permutation make a byte
constexpr int kPatterns = 1 << kTogether;
constexpr int kTile = 4;  // pairs whose sums stand side by side, as many as a register holds

// Every user has a stream of its own; its word w holds the signs of permutations 64 w, 64 w + 1, ..., lowest bit first.
inline uint64_t stream_of(uint64_t seed, uint64_t user) { return splitmix(splitmix(seed + kGolden) + user); }
inline uint64_t sign_word(uint64_t stream, int64_t w) { return splitmix(stream + uint64_t(w) * kGolden); }

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
  SignSums(const Flips& flips, Pieces& pieces)
      : pieces_(pieces), flips_(flips), tiles_((flips.pairs + kTile - 1) / kTile), pattern_(64 * kFlipWords),
        sums_(64 * kFlipWords * tiles_ * kTile), table_(kPatterns * kTile) {}

  // The sums of the permutations of words [begin, end), at most kFlipWords.
  void add_up(int64_t begin, int64_t end, int64_t* out) {
    const int permutations = 64 * int(end - begin);
    for (int at = 0; at < permutations * tiles_ * kTile; ++at) sums_[at] = 0;
    for (int64_t first = 0; first < flips_.users; first += kTogether) {
      if (first % kCheckEvery == 0) pieces_.check_stop();
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
      stream[u] = first + u < flips_.users ? stream_of(flips_.seed, flips_.user[first + u]) : 0;
    for (int64_t w = begin; w < end; ++w) {
      for (int u = 0; u < kTogether; ++u) word[u] = sign_word(stream[u], w);
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

  Pieces& pieces_;
  Flips flips_;
  int tiles_;
  Buffer<uint8_t> pattern_;
  Buffer<int64_t> sums_, table_;
};

}  // namespace
