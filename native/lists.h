// Lists one after the other in one array.
#pragma once

#include <cstdint>

namespace {

struct Lists {
  const int64_t* offsets;  // where each begins, and where the last one ends
  int64_t count;

  // Numbers past the last list, kNone among them, have an empty one.
  int64_t begin(uint32_t k) const { return k < count ? offsets[k] : 0; }
  int64_t end(uint32_t k) const { return k < count ? offsets[k + 1] : 0; }
};

}  // namespace
