// Hits, the cells of a page whose items gain something, and what they add up to.
#pragma once

#include <cstdint>

#include "tables/code_map.h"

namespace {

struct Hit {
  static constexpr const char* kNumbers = "a hit has three numbers: judgment, place and rank";

  uint32_t judgment;
  uint32_t place;  // row << 16 | col, counted from 1
  uint32_t rank;   // among the page's occupied cells, row by row, from 0

  uint32_t row() const { return (place >> 16) - 1; }
  uint32_t col() const { return (place & 0xffff) - 1; }
};
static_assert(sizeof(Hit) == 12, "hits are an array of three 32-bit numbers on the Python side");

// An item shown twice counts where it weighs most, where it stands first, or every time.
enum class Repeats { kBest, kFirst, kEvery };

// 2DCG of a page: gain times weight of its hits.
class HitScorer {
 public:
  struct Gains {
    const double* values;
    size_t count;
  };
  struct Weights {
    const double* values;
    size_t rows, cols;
  };
  HitScorer(Gains gains, Weights weights, bool as_list, Repeats repeats)
      : gains_(gains), weights_(weights), as_list_(as_list), repeats_(repeats) {}

  // Whether all hits lie within gains and weights.
  bool accepts(const Hit* hits, int64_t count) const {
    bool inside = true;
    for (const Hit* hit = hits; hit < hits + count; ++hit)
      inside &= hit->judgment < gains_.count && (as_list_ ? hit->rank < weights_.rows * weights_.cols
                                                          : hit->row() < weights_.rows && hit->col() < weights_.cols);
    return inside;
  }

  // `counted` receives what each hit weighs, 0 where it does not count.
  double score(const Hit* hits, int64_t count, double* counted) {
    first_.clear(size_t(count));
    for (int64_t h = 0; h < count; ++h) {
      const Hit& hit = hits[h];
      counted[h] = weights_.values[as_list_ ? hit.rank : hit.row() * weights_.cols + hit.col()];
      if (repeats_ == Repeats::kEvery) continue;
      uint32_t& best = first_.at(hit.judgment, uint32_t(h));
      if (best == uint32_t(h)) continue;
      if (repeats_ == Repeats::kBest && counted[h] > counted[best]) {
        counted[best] = 0.0;
        best = uint32_t(h);
      } else {
        counted[h] = 0.0;
      }
    }
    double total = 0.0;
    for (int64_t h = 0; h < count; ++h) total += gains_.values[hits[h].judgment] * counted[h];
    return total;
  }

 private:
  const Gains gains_;
  const Weights weights_;
  const bool as_list_;
  const Repeats repeats_;
  CodeMap first_;
};

}  // namespace
