// Eight doubles that move together, the one SIMD type of the kernels.
//
// They are held in as many registers as the target needs, since compilers do badly with vectors wider than a register.
// Where a compiler has no vector types, a plain array does the same arithmetic in the same order. Nothing here is
// contracted into fused multiply-adds (see CMakeLists.txt), so every build gives the same bits.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#define CAROUSEVAL_INLINE __forceinline
#define CAROUSEVAL_INLINE_LAMBDA
#else
#define CAROUSEVAL_INLINE inline __attribute__((always_inline))
#define CAROUSEVAL_INLINE_LAMBDA __attribute__((always_inline))
#if !defined(CAROUSEVAL_PLAIN_LANES)  // defined to test the plain form with any compiler
#define CAROUSEVAL_VECTORS
#endif
#endif
#if defined(CAROUSEVAL_VECTORS) && defined(__SSE2__)
#include <immintrin.h>
#endif

namespace {

constexpr int kLanes = 8;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

constexpr int padded(int n) { return (n + kLanes - 1) / kLanes * kLanes; }

#if !defined(CAROUSEVAL_VECTORS)
constexpr int kWidth = 1;
#elif defined(__AVX__)
constexpr int kWidth = 4;
#else
constexpr int kWidth = 2;
#endif
constexpr int kParts = kLanes / kWidth;

#if defined(CAROUSEVAL_VECTORS)
typedef double Doubles __attribute__((vector_size(kWidth * 8)));
typedef int64_t Longs __attribute__((vector_size(kWidth * 8)));
typedef uint64_t Bits __attribute__((vector_size(kWidth * 8)));
CAROUSEVAL_INLINE double lane(const Doubles& x, int l) { return x[l]; }
CAROUSEVAL_INLINE int64_t lane(const Longs& x, int l) { return x[l]; }
#define CAROUSEVAL_BOOL(expression) (expression)
#else
typedef double Doubles;
typedef int64_t Longs;
CAROUSEVAL_INLINE double lane(double x, int) { return x; }
CAROUSEVAL_INLINE int64_t lane(int64_t x, int) { return x; }
#define CAROUSEVAL_BOOL(expression) (-int64_t(expression))
#endif

struct Lanes {
  Doubles part[kParts];
  double operator[](int l) const { return lane(part[l / kWidth], l % kWidth); }
};
struct Mask {  // -1 where true, 0 where false
  Longs part[kParts];
  int64_t operator[](int l) const { return lane(part[l / kWidth], l % kWidth); }
};

// Defines an operation as the same expression for every part.
#define CAROUSEVAL_EACH(type, signature, expression)           \
  CAROUSEVAL_INLINE type signature {                           \
    type out;                                                  \
    for (int p = 0; p < kParts; ++p) out.part[p] = expression; \
    return out;                                                \
  }                                                            \
  static_assert(true, "")
CAROUSEVAL_EACH(Lanes, operator+(Lanes a, Lanes b), a.part[p] + b.part[p]);
CAROUSEVAL_EACH(Lanes, operator-(Lanes a, Lanes b), a.part[p] - b.part[p]);
CAROUSEVAL_EACH(Lanes, operator*(Lanes a, Lanes b), a.part[p] * b.part[p]);
CAROUSEVAL_EACH(Mask, operator<(Lanes a, Lanes b), CAROUSEVAL_BOOL(a.part[p] < b.part[p]));
CAROUSEVAL_EACH(Mask, operator>(Lanes a, Lanes b), CAROUSEVAL_BOOL(a.part[p] > b.part[p]));
CAROUSEVAL_EACH(Mask, operator>=(Lanes a, Lanes b), CAROUSEVAL_BOOL(a.part[p] >= b.part[p]));
CAROUSEVAL_EACH(Mask, operator==(Lanes a, Lanes b), CAROUSEVAL_BOOL(a.part[p] == b.part[p]));
CAROUSEVAL_EACH(Mask, operator!=(Lanes a, Lanes b), CAROUSEVAL_BOOL(a.part[p] != b.part[p]));
CAROUSEVAL_EACH(Mask, operator|(Mask a, Mask b), a.part[p] | b.part[p]);
CAROUSEVAL_EACH(Mask, operator&(Mask a, Mask b), a.part[p] & b.part[p]);
CAROUSEVAL_EACH(Mask, operator+(Mask a, Mask b), a.part[p] + b.part[p]);
CAROUSEVAL_EACH(Mask, fill_bits(int64_t x), x - Longs{});
CAROUSEVAL_EACH(Lanes, fill(double x), x - Doubles{});
CAROUSEVAL_EACH(Lanes, select(Mask m, Lanes a, Lanes b), m.part[p] ? a.part[p] : b.part[p]);
CAROUSEVAL_EACH(Lanes, max(Lanes a, Lanes b), a.part[p] > b.part[p] ? a.part[p] : b.part[p]);
CAROUSEVAL_EACH(Lanes, min(Lanes a, Lanes b), a.part[p] < b.part[p] ? a.part[p] : b.part[p]);
#undef CAROUSEVAL_EACH

// Part by part: copied whole, the compiler goes through memory in pieces of another size, and stalls.
CAROUSEVAL_INLINE Lanes load(const double* from) {
  Lanes x;
  for (int p = 0; p < kParts; ++p) std::memcpy(&x.part[p], from + p * kWidth, sizeof x.part[p]);
  return x;
}
CAROUSEVAL_INLINE void store(double* to, Lanes x) {
  for (int p = 0; p < kParts; ++p) std::memcpy(to + p * kWidth, &x.part[p], sizeof x.part[p]);
}

// Any number type, as doubles. The compiler widens bytes and floats one by one, unless it is told how.
template <class T>
CAROUSEVAL_INLINE Doubles widened(const T* from) {
#if defined(CAROUSEVAL_VECTORS)
  Doubles out;
  for (int l = 0; l < kWidth; ++l) out[l] = double(from[l]);
  return out;
#else
  return double(*from);
#endif
}
template <>
CAROUSEVAL_INLINE Doubles widened<double>(const double* from) {
  Doubles out;
  std::memcpy(&out, from, sizeof out);
  return out;
}
#if defined(CAROUSEVAL_VECTORS) && defined(__AVX2__)
template <>
CAROUSEVAL_INLINE Doubles widened<float>(const float* from) {
  return (Doubles)_mm256_cvtps_pd(_mm_loadu_ps(from));
}
template <>
CAROUSEVAL_INLINE Doubles widened<uint8_t>(const uint8_t* from) {
  int four;
  std::memcpy(&four, from, sizeof four);
  return (Doubles)_mm256_cvtepi32_pd(_mm_cvtepu8_epi32(_mm_cvtsi32_si128(four)));
}
#endif
template <class T>
CAROUSEVAL_INLINE Lanes load_as_double(const T* from) {
  Lanes out;
  for (int p = 0; p < kParts; ++p) out.part[p] = widened(from + p * kWidth);
  return out;
}

// 2^(n + e) for whole n, given n + 1.5 * 2^52, whose last bits are n: they become the exponent.
template <int e>
CAROUSEVAL_INLINE Lanes exp2_of_shifted(Lanes shifted) {
  constexpr uint64_t bias = uint64_t(1023 + e) << 52;  // unsigned: where n is too large, it wraps and is refused later
  Lanes out;
  for (int p = 0; p < kParts; ++p) {
#if defined(CAROUSEVAL_VECTORS)
    out.part[p] = (Doubles)(((Bits)shifted.part[p] << 52) + bias);
#else
    uint64_t bits;
    std::memcpy(&bits, &shifted.part[p], sizeof bits);
    bits = (bits << 52) + bias;
    std::memcpy(&out.part[p], &bits, sizeof bits);
#endif
  }
  return out;
}

// Lane l takes the value of lane l ^ x.
template <int x>
CAROUSEVAL_INLINE Lanes crossed(Lanes a) {
  Lanes out;
  for (int p = 0; p < kParts; ++p) {
    const Doubles from = a.part[p ^ (x / kWidth)];
    [[maybe_unused]] constexpr int y = x % kWidth;
#if !defined(CAROUSEVAL_VECTORS)
    out.part[p] = from;
#elif defined(__clang__) && defined(__AVX__)
    out.part[p] = __builtin_shufflevector(from, from, y, 1 ^ y, 2 ^ y, 3 ^ y);
#elif defined(__clang__)
    out.part[p] = __builtin_shufflevector(from, from, y, 1 ^ y);
#elif defined(__AVX__)  // GCC had only this form before version 12
    out.part[p] = __builtin_shuffle(from, Longs{y, 1 ^ y, 2 ^ y, 3 ^ y});
#else
    out.part[p] = __builtin_shuffle(from, Longs{y, 1 ^ y});
#endif
  }
  return out;
}

// The larger of two in lanes whose number lacks this bit, the smaller in the others.
template <int bit>
CAROUSEVAL_INLINE Lanes larger_first(Lanes a, Lanes b) {
  constexpr double high[kLanes] = {0, 1 & bit, 2 & bit, 3 & bit, 4 & bit, 5 & bit, 6 & bit, 7 & bit};
  return select(load(high) > fill(0.0), min(a, b), max(a, b));
}

// Bit l is set where lane l is true.
CAROUSEVAL_INLINE unsigned bitmask(Mask m) {
  unsigned bits = 0;
  for (int p = 0; p < kParts; ++p) {
#if defined(CAROUSEVAL_VECTORS) && defined(__AVX__)
    bits |= unsigned(_mm256_movemask_pd((__m256d)m.part[p])) << (p * kWidth);
#elif defined(CAROUSEVAL_VECTORS) && defined(__SSE2__)
    bits |= unsigned(_mm_movemask_pd((__m128d)m.part[p])) << (p * kWidth);
#else
    for (int l = 0; l < kWidth; ++l) bits |= unsigned(lane(m.part[p], l) & 1) << (p * kWidth + l);
#endif
  }
  return bits;
}
CAROUSEVAL_INLINE bool any(Mask m) { return bitmask(m) != 0; }

// Always the same tree, so a sum does not depend on the target.
CAROUSEVAL_INLINE double sum(Lanes x) { return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7])); }
// Both are padded with zeros to whole lanes.
CAROUSEVAL_INLINE double dot(const double* a, const double* b, int n) {
  Lanes total = fill(0.0);
  for (int c = 0; c < n; c += kLanes) total = total + load(a + c) * load(b + c);
  return sum(total);
}
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

#if defined(_MSC_VER) && !defined(__clang__)
CAROUSEVAL_INLINE int lowest_bit(uint64_t x) {
  unsigned long index;
  _BitScanForward64(&index, x);
  return int(index);
}
CAROUSEVAL_INLINE int highest_bit(uint64_t x) {
  unsigned long index;
  _BitScanReverse64(&index, x);
  return int(index);
}
CAROUSEVAL_INLINE int popcount(uint64_t x) { return int(__popcnt64(x)); }
#else
CAROUSEVAL_INLINE int lowest_bit(uint64_t x) { return __builtin_ctzll(x); }
CAROUSEVAL_INLINE int highest_bit(uint64_t x) { return 63 - __builtin_clzll(x); }
CAROUSEVAL_INLINE int popcount(uint64_t x) { return __builtin_popcountll(x); }
#endif

}  // namespace
