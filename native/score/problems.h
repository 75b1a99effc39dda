// What is asked of the kernels for scores and studies.
#pragma once

#include <cstdint>

enum class Gain { kExp2, kLinear };
enum class Ideal { kNone, kCategory, kUnconstrained };

// A stack of pages and what they are scored with. Pages may be smaller than the grid.
template <class T>
struct Pages {
  const T* relevance;  // count x rows x cols, NaN marks an empty cell
  int64_t count;
  int rows, cols;
  const double* weights;  // grid_rows x grid_cols
  int grid_rows, grid_cols;
  Gain gain;
  Ideal ideal;
  bool as_list;  // DCG@k: the occupied cells, row by row, as one list
};

// Random pairs of layouts of the same carousels.
struct Draws {
  uint64_t seed;
  int rows, cols;
  const uint64_t* up_to;  // up_to[n]: the chance of at most n relevant items, out of 2^64
  int top_grade;          // relevant items are graded 1..top_grade
};

// Paired differences as integers, to be added up under random signs.
struct Flips {
  const int64_t* differences;  // users x pairs; no sum of them, nor twice one of them, leaves 64 bits
  const uint64_t* user;        // a number for each, which keys its signs
  int64_t users;
  int pairs;
  int64_t permutations;
  uint64_t seed;
};
constexpr int kFlipWords = 16;  // at most so many words of 64 permutations at a time

struct Resamples {
  const double* values;  // users x columns: integers, no sum of which, 8 times over, leaves 53 bits
  const uint64_t* user;  // a number for each, which keys its draws
  int64_t users;
  int columns;
  int64_t count;
  uint64_t seed;
};
constexpr int kResampleWords = 128;  // at most so many words of 4 resamples at a time

// Independent chains over the same states, all arrays one chain after the other.
struct Chains {
  int64_t count;
  int states, reach;    // no step goes further than `reach` states up or down
  const double* band;   // states x (2 reach + 1): the chance of each step, from furthest down to furthest up
  const double* leave;  // by state: the chance to end
  const double* start;
  const double* lost;     // by state: the chance to go to the hub, which shows nothing
  const double* landing;  // where the hub leads
  const int64_t* cell;    // by state, for all chains: the cell it shows, or -1
  int cells;
};
