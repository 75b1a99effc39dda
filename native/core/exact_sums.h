// Sums over users of products of their values, without rounding: parts of the users add up to the same bits, in any
// order. A double is an integer times a power of two, so a product of a few is too, and digits of 32 bits are added up
// without a carry until the end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

constexpr int kMostFactors = 8;

// magnitude * 2^exponent, in digits of 32 bits, the lowest first; without digits it is 0.
struct BigProduct {
  uint32_t digits[2 * kMostFactors];
  int size = 0, exponent = 0;
  bool negative = false;

  static BigProduct of(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    const int field = int(bits >> 52 & 0x7ff);
    uint64_t magnitude = (bits & ((uint64_t(1) << 52) - 1)) | uint64_t(field > 0) << 52;
    BigProduct factor;
    factor.exponent = std::max(field, 1) - 1075;
    factor.negative = bits >> 63;
    if (magnitude != 0 && uint32_t(magnitude) == 0) magnitude >>= 32, factor.exponent += 32;  // one digit is enough
    for (; magnitude != 0; magnitude >>= 32) factor.digits[factor.size++] = uint32_t(magnitude);
    return factor;
  }

  BigProduct times(const BigProduct& factor) const {
    BigProduct out;
    if (size == 0 || factor.size == 0) return out;
    out.size = size + factor.size;
    out.exponent = exponent + factor.exponent;
    out.negative = negative != factor.negative;
    std::fill_n(out.digits, out.size, 0u);
    for (int i = 0; i < size; ++i) {
      uint64_t carry = 0;
      for (int j = 0; j < factor.size; ++j) {
        carry += out.digits[i + j] + uint64_t(digits[i]) * factor.digits[j];
        out.digits[i + j] = uint32_t(carry);
        carry >>= 32;
      }
      out.digits[i + factor.size] = uint32_t(carry);
    }
    out.size -= out.digits[out.size - 1] == 0;
    return out;
  }
};

// The products whose sums are wanted: each is an earlier one (-1: none), which it follows, times a value of the user.
struct ProductTerms {
  const double* values;  // finite, users x columns
  int64_t users;
  int columns;
  const int32_t *before, *column;
  int count;
};

class ExactSums {
 public:
  explicit ExactSums(const ProductTerms& terms) : terms_(terms), lowest_(terms.count), products_(terms.count) {
    std::vector<int> low(terms.columns, kNoExponent), high(terms.columns, -kNoExponent);
    for (int64_t user = 0; user < terms.users; ++user)
      for (int c = 0; c < terms.columns; ++c) {
        const BigProduct value = BigProduct::of(terms.values[user * terms.columns + c]);
        if (value.size == 0) continue;
        low[c] = std::min(low[c], value.exponent);
        high[c] = std::max(high[c], value.exponent + 32 * value.size);
      }
    std::vector<int> highest(terms.count);
    int64_t bits = 0;
    for (int t = 0; t < terms.count; ++t) {
      const int c = terms.column[t], before = terms.before[t];
      const bool zero = low[c] == kNoExponent || (before >= 0 && highest[before] == lowest_[before]);
      lowest_[t] = zero ? 0 : low[c] + (before < 0 ? 0 : lowest_[before]);
      highest[t] = zero ? 0 : high[c] + (before < 0 ? 0 : highest[before]);
      bits = std::max<int64_t>(bits, highest[t] - lowest_[t]);
    }
    digits_ = (bits + 31) / 32 + 4;  // what is shifted out of the last digit, a carry of so many users, and a sign
    sums_.resize(2 * size_t(terms.count) * digits_);
  }

  int64_t digits() const { return digits_; }
  const std::vector<int64_t>& lowest() const { return lowest_; }

  void add(int64_t begin, int64_t end) {
    for (int64_t user = begin; user < end; ++user) {
      const double* values = terms_.values + user * terms_.columns;
      for (int t = 0; t < terms_.count; ++t) {
        const BigProduct factor = BigProduct::of(values[terms_.column[t]]);
        products_[t] = terms_.before[t] < 0 ? factor : products_[terms_.before[t]].times(factor);
        if (products_[t].size > 0) add(products_[t], t);
      }
    }
  }

  // A sum as an integer in two's complement, digits() long, to be multiplied by 2^lowest().
  void write(int t, uint32_t* out) const {
    const uint64_t *positive = sums_of(t, false), *negative = sums_of(t, true);
    uint64_t carry = 0, carried = 0, borrow = 0;
    for (int64_t digit = 0; digit < digits_; ++digit) {
      carry += positive[digit];  // below 2^64: fewer than 2^31 users add less than 1.5 * 2^32 each
      carried += negative[digit];
      const uint64_t difference = uint64_t(uint32_t(carry)) - uint32_t(carried) - borrow;
      out[digit] = uint32_t(difference);
      borrow = difference >> 63;
      carry >>= 32, carried >>= 32;
    }
  }

 private:
  static constexpr int kNoExponent = 1 << 20;

  void add(const BigProduct& product, int t) {
    const int64_t offset = product.exponent - lowest_[t];
    uint64_t* sums = sums_of(t, product.negative) + offset / 32;
    const int shift = int(offset % 32);
    for (int i = 0; i < product.size; ++i) {
      const uint64_t shifted = uint64_t(product.digits[i]) << shift;
      sums[i] += uint32_t(shifted);
      sums[i + 1] += shifted >> 32;
    }
  }
  uint64_t* sums_of(int t, bool negative) { return sums_.data() + (2 * t + negative) * digits_; }
  const uint64_t* sums_of(int t, bool negative) const { return sums_.data() + (2 * t + negative) * digits_; }

  ProductTerms terms_;
  std::vector<int64_t> lowest_;       // the exponent of each sum's lowest bit
  std::vector<BigProduct> products_;  // of one user
  std::vector<uint64_t> sums_;        // by term: of the positive products, and of the others
  int64_t digits_ = 0;
};

}  // namespace
