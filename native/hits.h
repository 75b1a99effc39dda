// Hits, the cells of a page whose items gain something, and what they add up to.
#pragma once

#include <cstdint>

#include "code_map.h"

namespace {

struct Hit {
  uint32_t judgment, place, rank;  // rank: among the page's occupied cells, row by row, from 0
};

// An item shown twice counts where it weighs most, where it stands first, or every time.
enum class Repeats { kBest, kFirst, kEvery };

// 2DCG of a page: gain times weight of its hits.
class HitScorer {
 public:
  HitScorer(const double* gain, const double* weights, int cols, bool as_list, Repeats repeats)
      : gain_(gain), weights_(weights), cols_(cols), as_list_(as_list), repeats_(repeats) {}

  // `counted` receives what each hit weighs, 0 where it does not count.
  double score(const Hit* hits, int64_t count, double* counted) {
    first_.clear(size_t(count));
    for (int64_t h = 0; h < count; ++h) {
      const Hit& hit = hits[h];
      counted[h] = weights_[as_list_ ? hit.rank : ((hit.place >> 16) - 1) * uint32_t(cols_) + (hit.place & 0xffff) - 1];
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
    for (int64_t h = 0; h < count; ++h) total += gain_[hits[h].judgment] * counted[h];
    return total;
  }

 private:
  const double *gain_, *weights_;
  const int cols_;
  const bool as_list_;
  const Repeats repeats_;
  CodeMap first_;
};

}  // namespace
