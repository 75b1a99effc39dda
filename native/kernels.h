// What the Python module asks of the kernels. kernels.cpp is compiled once per instruction set, each time into a
// namespace of its own; module.cpp picks the best one the machine can run.
#pragma once

#include <cstdint>

#include "core/work_queue.h"
#include "score/problems.h"
#include "search/problems.h"

constexpr int kGainBlock = 1024;              // cells that `gains` takes at a time
constexpr int64_t kOverflow = INT64_MAX - 1;  // in place of a bad cell: gains too large to be added up

// Those that read relevance return the first bad cell they met, counted over the whole stack, or kNoAnswer.
struct Kernels {
  int64_t (*score_f64)(const Pages<double>&, WorkQueue&, double* dcg, double* best);
  int64_t (*score_f32)(const Pages<float>&, WorkQueue&, double* dcg, double* best);
  int64_t (*score_u8)(const Pages<uint8_t>&, WorkQueue&, double* dcg, double* best);
  int64_t (*score_i64)(const Pages<int64_t>&, WorkQueue&, double* dcg, double* best);
  int64_t (*gains)(const double* relevance, int64_t count, Gain gain, WorkQueue& blocks, double* out);
  void (*candidate_ideals)(const CandidateSets&, WorkQueue&, const CandidatePages&);
  void (*first_copy_ideals)(const FirstCopySets&, WorkQueue&, const FirstCopyPages&);
  // rho and r of each candidate (a row of n values) with the target; NaN where one is constant
  void (*correlations)(const double* candidates, const double* target, int n, WorkQueue&, double* rho, double* r);
  // trials first + [begin, end), into two stacks of pages
  void (*draw_pairs)(const Draws&, int64_t first, WorkQueue&, uint8_t* left, uint8_t* right);
  // sums, permutations x pairs; pieces of at most kFlipWords words
  void (*sign_sums)(const Flips&, WorkQueue&, int64_t* sums);
  // sums, resamples x columns; pieces of at most kResampleWords words
  void (*resampled_sums)(const Resamples&, WorkQueue&, double* sums);
  // the first state that is never left, counted over all chains with the hub as the last state of each, or kNoAnswer
  int64_t (*scan_chains)(const Chains&, WorkQueue&, double* visits, double* weights);
  // source: (row, col) of each cell's item, -1 where the ideal page leaves a cell empty
  int64_t (*layout)(const Pages<double>&, WorkQueue&, int64_t* source);
};

extern const Kernels* active;  // those of the instruction set in use; module.cpp
