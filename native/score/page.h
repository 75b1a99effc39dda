// One page as the kernels see it: gains in a buffer that stays in cache, and bit sets of the cells that hold an
// item and of those that gain something.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/buffer.h"
#include "core/simd.h"
#include "score/problems.h"

namespace {

// A set of cells, one bit each, walked by row.
class CellSet {
 public:
  explicit CellSet(int cells) : words_(cells / 64 + 2) {}

  void put_eight(int cell, unsigned bits) {  // cells come in order, a multiple of 8 at a time
    uint64_t& word = words_[cell / 64];
    word = (cell % 64 ? word : 0) | uint64_t(bits) << (cell % 64);
  }

  // Up to 64 cells from `begin`, the first in bit 0.
  uint64_t bits(int begin, int count) const {
    const int word = begin / 64;
    const int shift = begin % 64;
    uint64_t out = words_[word] >> shift;
    if (shift + count > 64) out |= words_[word + 1] << (64 - shift);
    return count < 64 ? out & ((uint64_t(1) << count) - 1) : out;
  }

  // The last cell of [begin, begin + count), counted from 1 inside it; 0 where there is none.
  int last(int begin, int count) const {
    for (int offset = (count - 1) / 64 * 64; offset >= 0; offset -= 64) {
      const uint64_t cells = bits(begin + offset, count - offset < 64 ? count - offset : 64);
      if (cells) return offset + highest_bit(cells) + 1;
    }
    return 0;
  }

  int count(int begin, int count) const {
    int total = 0;
    for (int offset = 0; offset < count; offset += 64)
      total += popcount(bits(begin + offset, count - offset < 64 ? count - offset : 64));
    return total;
  }

  template <class Visit>
  CAROUSEVAL_INLINE void each(int begin, int count, Visit visit) const {
    for (int offset = 0; offset < count; offset += 64) {
      uint64_t cells = bits(begin + offset, count - offset < 64 ? count - offset : 64);
      for (; cells; cells &= cells - 1) visit(begin + offset + lowest_bit(cells));
    }
  }

 private:
  Buffer<uint64_t> words_;
};

struct Page {
  Page(int rows_, int cols_)
      : rows(rows_), cols(cols_), cells(rows_ * cols_), gain(padded(cells)), held(cells), gaining(cells) {}

  const int rows, cols, cells;
  Buffer<double> gain;  // 0 in empty cells and in the padding
  CellSet held, gaining;
  bool full;               // no empty cell
  bool uniform;            // all gains above 0 are the same, `top`
  double top;              // the largest gain
  bool fractions = false;  // the page before this one had relevances that are not whole
};

// (2^f - 1) / f on [-0.25, 0.75]: the Taylor series, whose first dropped term is below 1e-17 there.
CAROUSEVAL_INLINE Lanes exp2m1_over(Lanes f) {
  constexpr double c[] = {
      0.6931471805599453,     0.24022650695910072,   0.05550410866482158,    0.009618129107628477,
      0.0013333558146428443,  0.0001540353039338161, 1.5252733804059841e-05, 1.321548679014431e-06,
      1.01780860092397e-07,   7.054911620801123e-09, 4.4455382718708116e-10, 2.5678435993488206e-11,
      1.3691488853904128e-12, 6.778726354822545e-14, 3.1324367070884287e-15, 1.3570247948755148e-16};
  const auto pair = [&](int n) { return fill(c[n]) + fill(c[n + 1]) * f; };
  const Lanes f2 = f * f, f4 = f2 * f2;  // by halves, not term by term: the sums need not wait for each other
  return ((pair(0) + pair(2) * f2) + (pair(4) + pair(6) * f2) * f4) +
         ((pair(8) + pair(10) * f2) + (pair(12) + pair(14) * f2) * f4) * (f4 * f4);
}

constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to a whole number

// 2^x - 1 for 0 <= x < 1024. With x = n + f it is 2^n (2^f - 1) + (2^n - 1): exact for whole x and without the
// cancellation of exp2(x) - 1 for small x (n is 0 up to 0.75, where the two terms would cancel). Computed at half its
// size, for n may be 1024. Marks x that are not whole.
CAROUSEVAL_INLINE Lanes exp2_gain(Lanes x, Mask& fraction) {
  const Lanes shifted = (x - fill(0.25)) + fill(kShift);
  const Lanes f = x - (shifted - fill(kShift));
  fraction = fraction | (f != fill(0.0));
  const Lanes half = exp2_of_shifted<-1>(shifted);
  return fill(2.0) * (half * (f * exp2m1_over(f)) + (half - fill(0.5)));
}

// The same bits for whole x, and only for them.
CAROUSEVAL_INLINE Lanes exp2_gain_whole(Lanes x, Mask& fraction) {
  const Lanes shifted = x + fill(kShift);
  fraction = fraction | ((shifted - fill(kShift)) != x);
  return exp2_of_shifted<0>(shifted) - fill(1.0);
}

// What the cells of a page have shown so far, lane by lane.
struct Flags {
  Mask bad = fill_bits(0);       // negative, infinite or too large for 2^x
  Mask fraction = fill_bits(0);  // not a whole number
};

enum class Exp2 { kWhole, kAny };

// Gains of eight cells; `held` tells which hold an item.
template <Gain gain, Exp2 exponent>
CAROUSEVAL_INLINE Lanes gains_of(Lanes x, Mask& held, Flags& flags) {
  held = x == x;
  const Lanes zero = fill(0.0);
  x = select(held, x, zero);
  flags.bad = flags.bad | (x < zero) | (x >= fill(gain == Gain::kExp2 ? 1024.0 : kInfinity));
  if constexpr (gain == Gain::kLinear) return x;
  else if constexpr (exponent == Exp2::kWhole) return exp2_gain_whole(x, flags.fraction);
  else return exp2_gain(x, flags.fraction);
}

// Eight cells of which the first `count` belong to the page, the others read as empty. Past them memory is read only
// as far as the stack goes (`readable` values).
template <class T>
CAROUSEVAL_INLINE Lanes load_some(const T* from, int count, int64_t readable) {
  if (readable >= kLanes) {
    constexpr double index[kLanes] = {0, 1, 2, 3, 4, 5, 6, 7};
    return select(load(index) < fill(double(count)), load_as_double(from), fill(kNaN));
  }
  double some[kLanes];
  for (int l = 0; l < kLanes; ++l) some[l] = l < count ? double(from[l]) : kNaN;
  return load(some);
}

// Calls visit(cell, gains, held) for every eight cells of a page; the last eight are padded with empty cells.
template <Gain gain, Exp2 exponent, class T, class Visit>
CAROUSEVAL_INLINE Flags each_eight(const T* relevance, int cells, int64_t readable, Visit visit) {
  Flags flags;
  Mask held;
  int c = 0;
  for (; c + kLanes <= cells; c += kLanes) {
    const Lanes g = gains_of<gain, exponent>(load_as_double(relevance + c), held, flags);
    visit(c, g, held);
  }
  if (c < cells) {
    const Lanes g = gains_of<gain, exponent>(load_some(relevance + c, cells - c, readable - c), held, flags);
    visit(c, g, held);
  }
  return flags;
}

// Whole grades are cheap and common, so they are tried first, unless the page before this one had others. Both ways
// give the same bits for whole grades. Returns false when a cell is bad.
template <Gain gain, class T, class Start, class Visit>
CAROUSEVAL_INLINE bool each_gain(const T* relevance, int cells, int64_t readable, bool& fractions, Start start,
                                 Visit visit) {
  Flags flags;
  if (gain == Gain::kLinear || !fractions) {
    start();
    flags = each_eight<gain, Exp2::kWhole>(relevance, cells, readable, visit);
    if (gain == Gain::kLinear || !any(flags.fraction)) return !any(flags.bad);
  }
  start();
  flags = each_eight<gain, Exp2::kAny>(relevance, cells, readable, visit);
  fractions = any(flags.fraction);
  return !any(flags.bad);
}

template <Gain gain, class T>
bool read_page(const T* relevance, int64_t readable, Page& page) {
  const Lanes zero = fill(0.0);
  Lanes top;
  unsigned missing;
  const bool good = each_gain<gain>(
      relevance, page.cells, readable, page.fractions,
      [&] {
        top = zero;
        missing = 0;
      },
      [&](int c, Lanes g, Mask held_lanes) CAROUSEVAL_INLINE_LAMBDA {
        const unsigned held = bitmask(held_lanes);
        store(page.gain.at(c), g);
        page.held.put_eight(c, held);
        page.gaining.put_eight(c, bitmask(g > zero));
        missing |= held ^ (page.cells - c < kLanes ? (1u << (page.cells - c)) - 1 : 255u);
        top = max(top, g);
      });
  page.full = missing == 0;
  page.top = largest(top);
  Mask other = fill_bits(0);
  const Lanes top_everywhere = fill(page.top);
  for (int c = 0; c < page.cells; c += kLanes) {
    const Lanes g = load(page.gain.at(c));
    other = other | ((g != zero) & (g != top_everywhere));
  }
  page.uniform = !any(other);
  return good;
}

}  // namespace
