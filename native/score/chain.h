// People browsing a page as absorbing Markov chains: how often each state is visited, which cells are seen at all.
//
// States are eliminated one by one, first to last (Grassmann, Taksar & Heyman): who would come to an eliminated state
// is sent on to where it leads. Its chance of going anywhere else is added up, never taken from 1, so nothing is ever
// subtracted and every number is right to its own last digits, however seldom people leave. The inverse N = (I - Q)^-1
// is then needed near its diagonal only, where it follows from the factors (Takahashi; Erisman & Tinney), again by
// sums.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/buffer.h"
#include "core/simd.h"
#include "core/work_queue.h"
#include "score/problems.h"

namespace {

// to[c] += factor * from[c], for n values padded with zeros to whole lanes.
CAROUSEVAL_INLINE void add_scaled(double* to, double factor, const double* from, int n) {
  for (int c = 0; c < n; c += kLanes) store(to + c, load(to + c) + fill(factor) * load(from + c));
}
CAROUSEVAL_INLINE void scale(double* values, double factor, int n) {
  for (int c = 0; c < n; c += kLanes) store(values + c, load(values + c) * fill(factor));
}

// A thread's room to work in, kept from call to call: the system would take it back, and handing it out anew takes
// longer than a chain does.
inline double* workspace(int64_t size) {
  thread_local Buffer<double> memory(0);
  memory.reserve(size);
  return memory.at(0);
}

class ChainScan {
 public:
  ChainScan(const Chains& chains, WorkQueue& queue)
      : queue_(queue), chains_(chains), n_(chains.states), first_(chains.cells + 1), states_of_cell_(n_),
        span_(gather_cells()) {
    const int64_t rows = int64_t(n_) * (chains.reach + 1 + padded(std::max(span_, chains.reach)));
    const int64_t line = n_ + padded(chains.reach);
    double* next = workspace(4 * rows + 5 * line + int64_t(most_) * (most_ + 1));
    for (double** table : {&step_, &back_, &across_, &down_}) *table = std::exchange(next, next + rows);
    for (double** values : {&once_, &leave_, &lost_, &start_, &landing_}) {
      *values = std::exchange(next, next + line);
      std::fill(*values + n_, next, 0.0);  // read with the last states, in whole lanes
    }
    chance_ = next;
    matrix_ = next + most_;
  }

  // The first state that is never left, `states` for the hub, or -1.
  int scan(int64_t chain, double* visits, double* weights) {
    read(chain);
    for (int s = 0; s < n_; ++s) {
      if (s % check_every_ == 0) queue_.check_stop();
      if (!eliminate(s)) return s;
    }
    for (int s = n_ - 1; s >= 0; --s) {
      if (s % check_every_ == 0) queue_.check_stop();
      restore(s);
    }
    std::copy(start_, start_ + n_, visits);
    returns_ = 0.0;
    if (hub_) {
      double end = 0.0, lose = 0.0;  // chances: to end, of those who land; to be lost, of those who start
      for (int s = 0; s < n_; ++s) end += landing_[s] * chains_.leave[chain * n_ + s];
      for (int s = 0; s < n_; ++s) lose += start_[s] * chains_.lost[chain * n_ + s];
      returns_ = 1.0 / end;
      if (!(returns_ <= std::numeric_limits<double>::max())) return n_;
      for (int s = 0; s < n_; ++s) visits[s] += lose * returns_ * landing_[s];
    }
    for (int c = 0; c < chains_.cells; ++c)
      weights[c] = visited(states_of_cell_.at(first_[c]), first_[c + 1] - first_[c], visits);
    return -1;
  }

 private:
  // The states of each cell, in order; returns how far apart two states of a cell can be.
  int gather_cells() {
    Buffer<int> next(chains_.cells + 1);
    for (int s = 0; s < n_; ++s)
      if (chains_.cell[s] >= 0) ++first_[int(chains_.cell[s]) + 1];
    for (int c = 0; c < chains_.cells; ++c) {
      most_ = std::max(most_, first_[c + 1]);
      next[c + 1] = first_[c + 1] += first_[c];
    }
    int span = 0;
    for (int s = 0; s < n_; ++s)
      if (const int c = int(chains_.cell[s]); c >= 0) {
        states_of_cell_[next[c]++] = s;
        span = std::max(span, s - states_of_cell_[first_[c]]);
      }
    return span;
  }

  // Rows of the band, and of N and its transpose, counted from the diagonal.
  double* step(int s) { return step_ + int64_t(s) * (longest_down_ + 1 + up_) + longest_down_; }
  double* back(int s) { return back_ + int64_t(s) * padded(longest_down_) - 1; }  // steps to s from s + 1, s + 2, ...
  double* across(int s) { return across_ + int64_t(s) * (longest_up_ + 1 + right_) + longest_up_; }
  double* down(int s) { return down_ + int64_t(s) * (longest_down_ + 1 + below_) + longest_down_; }

  void read(int64_t chain) {
    const int reach = chains_.reach;
    const int64_t width = 2 * reach + 1;
    const double* band = chains_.band + chain * n_ * width + reach;
    longest_up_ = longest_down_ = 0;  // a chain may go less far than the band allows, above all in one direction
    for (int s = 0; s < n_; ++s) {
      for (int up = std::min(reach, n_ - 1 - s); up > longest_up_; --up)
        if (band[s * width + up] != 0) longest_up_ = up;
      for (int by = std::min(reach, s); by > longest_down_; --by)
        if (band[s * width - by] != 0) longest_down_ = by;
    }
    up_ = padded(longest_up_);
    right_ = padded(std::max(longest_down_, span_));
    below_ = padded(std::max(longest_up_, span_));
    for (int s = 0; s < n_; ++s) {
      const int by = std::min(longest_down_, s), up = std::min(longest_up_, n_ - 1 - s);
      std::copy(band + s * width - by, band + s * width + up + 1, step(s) - by);
      std::fill(step(s) + up + 1, step(s) + up_ + 1, 0.0);
    }
    const auto copy = [&](const double* from, double* to) {
      std::copy(from + chain * n_, from + (chain + 1) * n_, to);
    };
    copy(chains_.leave, leave_);
    copy(chains_.lost, lost_);
    copy(chains_.start, start_);
    copy(chains_.landing, landing_);
    hub_ = std::any_of(lost_, lost_ + n_, [](double chance) { return chance != 0; });
  }

  // Sends all who come to s on to later states, to the hub or to the end. False if they could never go on. Steps from s
  // to itself are never read: they are what the others leave over.
  bool eliminate(int s) {
    const int below = std::min(longest_down_, n_ - 1 - s);
    double *up = step(s), *from = back(s);
    Lanes onward = fill(0.0);
    for (int c = 1; c <= up_; c += kLanes) onward = onward + load(up + c);
    once_[s] = 1.0 / (leave_[s] + lost_[s] + sum(onward));
    if (!(once_[s] <= std::numeric_limits<double>::max())) return false;
    scale(up + 1, once_[s], up_);
    for (int k = 1; k <= below; ++k) {
      from[k] = step(s + k)[-k];
      if (from[k] != 0) add_scaled(step(s + k) - k + 1, from[k], up + 1, up_);
    }
    std::fill(from + below + 1, from + padded(longest_down_) + 1, 0.0);
    add_scaled(leave_ + s + 1, leave_[s] * once_[s], from + 1, longest_down_);
    add_scaled(start_ + s + 1, start_[s], up + 1, up_);
    if (hub_) {
      add_scaled(lost_ + s + 1, lost_[s] * once_[s], from + 1, longest_down_);
      add_scaled(landing_ + s + 1, landing_[s], up + 1, up_);
    }
    scale(from + 1, once_[s], longest_down_);
    return true;
  }

  // Brings s back, all later states being there: its row and column of N, then what start, landing and lost come to.
  void restore(int s) {
    const double *up = step(s), *from = back(s);
    double *row = across(s), *column = down(s);
    const int above = std::min(longest_up_, n_ - 1 - s), below = std::min(longest_down_, n_ - 1 - s);
    combine(row, right_, longest_up_ + 1 + right_, up, above);
    combine(column, below_, longest_down_ + 1 + below_, from, below);
    row[0] = column[0] = once_[s] + dot(up + 1, column + 1, longest_up_);
    for (int k = 1; k < longest_up_ && s + k < n_; ++k) across(s + k)[-k] = column[k];
    for (int k = 1; k < longest_down_ && s + k < n_; ++k) down(s + k)[-k] = row[k];
    start_[s] = start_[s] * once_[s] + dot(from + 1, start_ + s + 1, longest_down_);
    if (hub_) {
      landing_[s] = landing_[s] * once_[s] + dot(from + 1, landing_ + s + 1, longest_down_);
      lost_[s] = lost_[s] * once_[s] + dot(up + 1, lost_ + s + 1, longest_up_);
    }
  }

  // What follows the diagonal of a row: factor[k] times the same columns of the k-th row below it, over all k.
  static void combine(double* row, int width, int64_t pitch, const double* factor, int rows) {
    for (int c = 1; c <= width; c += kLanes) {
      Lanes total = fill(0.0);
      for (int k = 1; k <= rows; ++k) total = total + fill(factor[k]) * load(row + k * (pitch - 1) + c);
      store(row + c, total);
    }
  }

  // N, no further from the diagonal than the states of a cell are apart.
  double inverse(int s, int t) {
    return (s < t ? across(s)[t - s] : down(t)[s - t]) + returns_ * lost_[s] * landing_[t];
  }

  // The chance that any of these states is visited.
  double visited(const int* state, int count, const double* visits) {
    double largest = 0.0;
    for (int a = 0; a < count; ++a) {
      const double itself = inverse(state[a], state[a]);
      chance_[a] = std::min(visits[state[a]] / itself, 1.0);
      largest = std::max(largest, chance_[a]);
      if (count > 1)
        for (int b = 0; b < count; ++b) matrix_[int64_t(a) * count + b] = inverse(state[b], state[a]) / itself;
    }
    return count < 2 ? largest : std::clamp(first_entrances(count), largest, 1.0);
  }

  // The people whom a cell's states meet before any other of them, by Gaussian elimination: a state is visited by those
  // it meets first and those who come from another, chance_[a] = sum over b of first[b] * (chance to come from b to a).
  // Here numbers are subtracted, but errors of N weigh no more in the sum of first[] than they do in N.
  double first_entrances(int count) {
    const auto at = [&](int64_t a) { return matrix_ + a * count; };
    for (int c = 0; c < count; ++c) {
      if (c % kCheckEvery == kCheckEvery - 1) queue_.check_stop();
      int pivot = c;
      for (int a = c + 1; a < count; ++a)
        if (std::abs(at(a)[c]) > std::abs(at(pivot)[c])) pivot = a;
      for (int b = c; b < count; ++b) std::swap(at(c)[b], at(pivot)[b]);
      std::swap(chance_[c], chance_[pivot]);
      for (int a = c + 1; a < count && at(c)[c] != 0; ++a) {
        const double factor = at(a)[c] / at(c)[c];
        for (int b = c; b < count; ++b) at(a)[b] -= factor * at(c)[b];
        chance_[a] -= factor * chance_[c];
      }
    }
    double total = 0.0;
    for (int c = count - 1; c >= 0; --c) {
      chance_[c] = at(c)[c] != 0 ? chance_[c] / at(c)[c] : 0.0;  // to the last digit the same state as another
      total += chance_[c];
      for (int a = 0; a < c; ++a) chance_[a] -= at(a)[c] * chance_[c];
    }
    return total;
  }

  WorkQueue& queue_;
  Chains chains_;
  const int check_every_ = chains_.reach < 256 ? kCheckEvery : 1;  // states
  int n_, most_ = 0;                                               // the most states of a cell
  Buffer<int> first_, states_of_cell_;
  int span_;                               // the furthest that two states of a cell are apart
  int longest_up_ = 0, longest_down_ = 0;  // steps of this chain
  int up_ = 0, right_ = 0, below_ = 0;     // padded: steps up, entries of a row of N and of a column after the diagonal
  bool hub_ = false;
  double returns_ = 0.0;    // how often the hub is met by those who meet it
  double *step_, *back_;    // the band; steps down, by where they lead
  double *across_, *down_;  // N near its diagonal, by rows and by columns
  double* once_;            // how often a state is met, by those who come to it, before they go on to later ones
  double *leave_, *lost_, *start_, *landing_;
  double *chance_, *matrix_;  // by state of a cell, and between them
};

}  // namespace
