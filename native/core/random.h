// Random words that depend on a seed and on numbers of users, trials and permutations alone.
#pragma once

#include <cstdint>

namespace {

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15u;  // 2^64 over the golden ratio: its multiples lie far apart

// The mixing step of splitmix64 (Steele, Lea and Flood): counters in, words without visible pattern out.
inline uint64_t splitmix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// Every user has a stream of its own; of its words, word w holds 64 signs or 4 draws.
inline uint64_t user_stream(uint64_t seed, uint64_t user) { return splitmix(splitmix(seed + kGolden) + user); }
inline uint64_t random_word(uint64_t stream, int64_t w) { return splitmix(stream + uint64_t(w) * kGolden); }

// xoshiro256** (Blackman and Vigna), its state filled by splitmix64.
class RandomStream {
 public:
  RandomStream(uint64_t seed, uint64_t trial) {
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

}  // namespace
