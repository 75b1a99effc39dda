// Eight doubles that move together, the one SIMD type of the kernels.
//
// GCC and Clang turn these into whatever registers the target has; elsewhere a plain array does the same
// arithmetic in the same order. Nothing here is contracted into fused multiply-adds (see CMakeLists.txt), so
// every build gives the same bits.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif
#if defined(__SSE2__) || defined(__AVX512DQ__)
#include <immintrin.h>
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#define CAROUSEVAL_INLINE __forceinline
#else
#define CAROUSEVAL_INLINE inline __attribute__((always_inline))
#endif

namespace {

constexpr int kLanes = 8;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr int padded(int n) { return (n + kLanes - 1) / kLanes * kLanes; }

#if (defined(__GNUC__) || defined(__clang__)) && !defined(CAROUSEVAL_PLAIN_LANES)

typedef double Lanes __attribute__((vector_size(64)));
typedef int64_t Mask __attribute__((vector_size(64)));  // -1 where true, 0 where false

CAROUSEVAL_INLINE Lanes select(Mask m, Lanes yes, Lanes no) { return m ? yes : no; }
CAROUSEVAL_INLINE Mask bits_of(Lanes x) { return (Mask)x; }
CAROUSEVAL_INLINE Lanes from_bits(Mask x) { return (Lanes)x; }

#else

template <class T>
struct Eight {
  T v[kLanes];
  T& operator[](int l) { return v[l]; }
  const T& operator[](int l) const { return v[l]; }
};
typedef Eight<double> Lanes;
typedef Eight<int64_t> Mask;

#define CAROUSEVAL_EACH(type, expression)            \
  {                                                  \
    type out;                                        \
    for (int l = 0; l < kLanes; ++l) out[l] = expression; \
    return out;                                      \
  }
CAROUSEVAL_INLINE Lanes operator+(Lanes a, Lanes b) CAROUSEVAL_EACH(Lanes, a[l] + b[l])
CAROUSEVAL_INLINE Lanes operator-(Lanes a, Lanes b) CAROUSEVAL_EACH(Lanes, a[l] - b[l])
CAROUSEVAL_INLINE Lanes operator*(Lanes a, Lanes b) CAROUSEVAL_EACH(Lanes, a[l] * b[l])
CAROUSEVAL_INLINE Mask operator<(Lanes a, Lanes b) CAROUSEVAL_EACH(Mask, -int64_t(a[l] < b[l]))
CAROUSEVAL_INLINE Mask operator>(Lanes a, Lanes b) CAROUSEVAL_EACH(Mask, -int64_t(a[l] > b[l]))
CAROUSEVAL_INLINE Mask operator>=(Lanes a, Lanes b) CAROUSEVAL_EACH(Mask, -int64_t(a[l] >= b[l]))
CAROUSEVAL_INLINE Mask operator==(Lanes a, Lanes b) CAROUSEVAL_EACH(Mask, -int64_t(a[l] == b[l]))
CAROUSEVAL_INLINE Mask operator!=(Lanes a, Lanes b) CAROUSEVAL_EACH(Mask, -int64_t(a[l] != b[l]))
CAROUSEVAL_INLINE Mask operator|(Mask a, Mask b) CAROUSEVAL_EACH(Mask, a[l] | b[l])
CAROUSEVAL_INLINE Mask operator&(Mask a, Mask b) CAROUSEVAL_EACH(Mask, a[l] & b[l])
CAROUSEVAL_INLINE Mask operator+(Mask a, Mask b) CAROUSEVAL_EACH(Mask, int64_t(uint64_t(a[l]) + uint64_t(b[l])))
CAROUSEVAL_INLINE Mask operator<<(Mask a, int n) CAROUSEVAL_EACH(Mask, int64_t(uint64_t(a[l]) << n))
CAROUSEVAL_INLINE Lanes select(Mask m, Lanes a, Lanes b) CAROUSEVAL_EACH(Lanes, m[l] ? a[l] : b[l])
#undef CAROUSEVAL_EACH
CAROUSEVAL_INLINE Mask bits_of(Lanes x) { Mask m; std::memcpy(&m, &x, sizeof m); return m; }
CAROUSEVAL_INLINE Lanes from_bits(Mask m) { Lanes x; std::memcpy(&x, &m, sizeof x); return x; }

#endif

CAROUSEVAL_INLINE Lanes load(const double* p) { Lanes x; std::memcpy(&x, p, sizeof x); return x; }
CAROUSEVAL_INLINE void store(double* p, Lanes x) { std::memcpy(p, &x, sizeof x); }
CAROUSEVAL_INLINE Lanes fill(double x) { return Lanes{x, x, x, x, x, x, x, x}; }
CAROUSEVAL_INLINE Mask fill_bits(int64_t x) { return Mask{x, x, x, x, x, x, x, x}; }
CAROUSEVAL_INLINE Lanes max(Lanes a, Lanes b) { return select(a > b, a, b); }
CAROUSEVAL_INLINE Lanes min(Lanes a, Lanes b) { return select(a < b, a, b); }

// Bit l is set where lane l is true.
CAROUSEVAL_INLINE unsigned bitmask(Mask m) {
#if defined(__AVX512DQ__) && !defined(CAROUSEVAL_PLAIN_LANES)
  return unsigned(_mm512_movepi64_mask((__m512i)m));
#elif defined(__SSE2__) && !defined(CAROUSEVAL_PLAIN_LANES)
  unsigned bits = 0;
  for (int l = 0; l < kLanes; l += 2) {
    __m128d half;
    std::memcpy(&half, reinterpret_cast<const char*>(&m) + l * sizeof(double), sizeof half);
    bits |= unsigned(_mm_movemask_pd(half)) << l;
  }
  return bits;
#else
  unsigned bits = 0;
  for (int l = 0; l < kLanes; ++l) bits |= unsigned(m[l] & 1) << l;
  return bits;
#endif
}
CAROUSEVAL_INLINE bool any(Mask m) { return bitmask(m) != 0; }

// Always the same tree, so a sum does not depend on the target.
CAROUSEVAL_INLINE double sum(Lanes x) { return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7])); }
CAROUSEVAL_INLINE double smallest(Lanes x) {
  double best = x[0];
  for (int l = 1; l < kLanes; ++l) best = x[l] < best ? x[l] : best;
  return best;
}
CAROUSEVAL_INLINE double largest(Lanes x) {
  double best = x[0];
  for (int l = 1; l < kLanes; ++l) best = x[l] > best ? x[l] : best;
  return best;
}

CAROUSEVAL_INLINE int lowest_bit(uint64_t x) {
#if defined(_MSC_VER) && !defined(__clang__)
  unsigned long at;
  _BitScanForward64(&at, x);
  return int(at);
#else
  return __builtin_ctzll(x);
#endif
}
CAROUSEVAL_INLINE int highest_bit(uint64_t x) {
#if defined(_MSC_VER) && !defined(__clang__)
  unsigned long at;
  _BitScanReverse64(&at, x);
  return int(at);
#else
  return 63 - __builtin_clzll(x);
#endif
}
CAROUSEVAL_INLINE int popcount(uint64_t x) {
#if defined(_MSC_VER) && !defined(__clang__)
  return int(__popcnt64(x));
#else
  return __builtin_popcountll(x);
#endif
}

}  // namespace
