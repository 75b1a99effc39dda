// Lists one after the other in one array, by where each begins.
#pragma once

#include <cstdint>

namespace {

struct Offsets {
  const int64_t* starts;  // of each list, and where the last one ends
  int64_t count;          // of lists

  // Numbers past the last list, kNone among them, have an empty one.
  int64_t begin(int64_t list) const { return list < count ? starts[list] : 0; }
  int64_t end(int64_t list) const { return list < count ? starts[list + 1] : 0; }
  int64_t size(int64_t list) const { return end(list) - begin(list); }
};

}  // namespace
