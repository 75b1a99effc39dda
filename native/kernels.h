// What the Python module asks of the kernels. kernels.cpp is compiled once per instruction set, each time into a
// namespace of its own; module.cpp picks the best one the machine can run.
#pragma once

#include <cstdint>

#include "pieces.h"

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

// Independent sets of items to choose from, as lists one after the other: items with gains and categories (of the
// same set), categories with slots. The items of set p are item_offsets[p] up to item_offsets[p + 1], and so on.
struct CandidateSets {
  int64_t count;
  const double* gains;
  const int64_t* item_offsets;
  const int32_t* item_categories;
  const int64_t* item_category_offsets;
  const int32_t* slots;
  const int32_t* pinned;  // the row a category stands on, or -1; no other category may stand there
  const int64_t* category_offsets;
  const int32_t* open;  // categories without a row of their own stand on the first so many
  const double* weights;
  int grid_rows, grid_cols;
  double tolerance;    // relative: pages that are better by less than this need not be found
  int64_t work_limit;  // steps for one set, about a nanosecond each
};

// The best page found for each set, and a proven bound: equal but for the tolerance, unless the limit of work was met.
struct CandidatePages {
  double *best, *bound;
  int32_t* row;            // by category: its row, or -1
  int32_t* item_category;  // by item: the category it counts in, or -1
};

// Displayed pages, of which an item counts in the first row that shows it; lists one after the other as above.
struct FirstSets {
  int64_t count;
  const double* gains;
  const int64_t* item_offsets;
  const int32_t* item_rows;  // the rows that show an item
  const int64_t* item_row_offsets;
  const int32_t* copies;  // how often each of them shows it; a row's together are at most its slots
  const int32_t* slots;   // by row
  const bool* fixed;      // by row: it stays where it is
  const int64_t* row_offsets;
  const double* weights;  // at most 1
  int grid_rows, grid_cols;
  const double* bound;   // a bound on each ideal; where no item is repeated, the ideal
  const int32_t* start;  // by row: its place in an order to begin with, or -1
  int width;             // sets of rows that are kept at each place
};

// The best page found for each, and a proven bound.
struct FirstPages {
  double *best, *bound;
  int32_t* place;     // by row
  int32_t* item_row;  // by item: the row it counts in, and its column there; -1 if it gains nothing
  int32_t* item_col;
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

constexpr int kGainBlock = 1024;              // cells that `gains` takes at a time
constexpr int64_t kOverflow = INT64_MAX - 1;  // in place of a bad cell: gains too large to be added up

// Those that read relevance return the first bad cell they met, counted over the whole stack, or kNoAnswer.
struct Kernels {
  int64_t (*score_f64)(const Pages<double>&, Pieces&, double* dcg, double* best);
  int64_t (*score_f32)(const Pages<float>&, Pieces&, double* dcg, double* best);
  int64_t (*score_u8)(const Pages<uint8_t>&, Pieces&, double* dcg, double* best);
  int64_t (*score_i64)(const Pages<int64_t>&, Pieces&, double* dcg, double* best);
  int64_t (*gains)(const double* relevance, int64_t count, Gain gain, Pieces& blocks, double* out);
  void (*candidate_ideals)(const CandidateSets&, Pieces&, const CandidatePages&);
  void (*first_occurrence_ideals)(const FirstSets&, Pieces&, const FirstPages&);
  // rho and r of each candidate (a row of n values) with the target; NaN where one is constant
  void (*correlations)(const double* candidates, const double* target, int n, Pieces&, double* rho, double* r);
  // trials first + [begin, end), into two stacks of pages
  void (*draw_pairs)(const Draws&, int64_t first, Pieces&, uint8_t* one, uint8_t* other);
  // sums, permutations x pairs; pieces of at most kFlipWords words
  void (*sign_sums)(const Flips&, Pieces&, int64_t* sums);
  // sums, resamples x columns; pieces of at most kResampleWords words
  void (*resampled_sums)(const Resamples&, Pieces&, double* sums);
  // the first state that is never left, counted over all chains with the hub as the last state of each, or kNoAnswer
  int64_t (*scan_chains)(const Chains&, Pieces&, double* visits, double* weights);
  // source: (row, col) of each cell's item, -1 where the ideal page leaves a cell empty
  int64_t (*layout)(const Pages<double>&, Pieces&, int64_t* source);
};

extern const Kernels* active;  // those of the instruction set in use; module.cpp
