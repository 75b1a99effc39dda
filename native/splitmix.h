// The mixing step of splitmix64 (Steele, Lea and Flood): counters in, words without visible pattern out.
#pragma once

#include <cstdint>

namespace {

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15u;

inline uint64_t splitmix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

}  // namespace
