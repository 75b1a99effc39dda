// What is asked of the searches for ideals of which an item counts once, and what they answer.
#pragma once

#include <cstdint>

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
struct FirstCopySets {
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
struct FirstCopyPages {
  double *best, *bound;
  int32_t* place;     // by row
  int32_t* item_row;  // by item: the row it counts in, and its column there; -1 if it gains nothing
  int32_t* item_col;
};
