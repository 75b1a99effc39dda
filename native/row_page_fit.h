// d_rpb fitted to how many screens each cell was examined on: damped Fisher scoring, step for step that of maximise.py.
//
// Since slopes of logarithms belong to rows and to columns (row_page.h), the information needs nine sums over the
// columns of each row, and no more of single cells.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "buffer.h"
#include "kernels.h"
#include "row_page.h"
#include "simd.h"

namespace {

constexpr double kLargestMove = 2.0;
constexpr int kMostRounds = 200;
constexpr double kGain = 1e-9;  // a step that promises less is not worth taking

// Solves system * x = right in place (Cholesky, the lower triangle is read); false if it is not positive definite.
inline bool solve(double (*system)[RowPageModel::kSlots], double* right, int n) {
  for (int p = 0; p < n; ++p) {
    for (int q = 0; q <= p; ++q) {
      double rest = system[p][q];
      for (int r = 0; r < q; ++r) rest -= system[p][r] * system[q][r];
      if (q < p) system[p][q] = rest / system[q][q];
      else if (rest > 0 && rest < kInfinity) system[p][p] = std::sqrt(rest);
      else return false;
    }
    for (int r = 0; r < p; ++r) right[p] -= system[p][r] * right[r];
    right[p] /= system[p][p];
  }
  for (int p = n - 1; p >= 0; --p) {
    for (int r = p + 1; r < n; ++r) right[p] -= system[r][p] * right[r];
    right[p] /= system[p][p];
  }
  return true;
}

class RowPageFit {
 public:
  explicit RowPageFit(const RowPageFits& fits)
      : fits_(fits), model_(fits.form), rows_(model_.rows), cols_(model_.cols), size_(model_.size),
        chance_(rows_ * cols_), row_seen_(2 * rows_), column_seen_(cols_) {}

  int size() const { return size_; }  // free parameters

  // The best of all starts.
  void fit(int64_t problem, double* at, double& value, bool& converged) {
    read(problem);
    for (int s = 0; s < fits_.starts_each; ++s) {
      climb(fits_.starts + (problem * fits_.starts_each + s) * size_);
      if (s > 0 && !(value_ > value)) continue;
      std::copy(here_, here_ + size_, at);
      value = value_;
      converged = converged_;
    }
  }

 private:
  using Part = RowPageModel::Part;
  static constexpr int kSlots = RowPageModel::kSlots, kByColumn = RowPageModel::kByColumn,
                       kByRow = RowPageModel::kByRow;

  void read(int64_t problem) {
    counts_ = fits_.counts + problem * rows_ * cols_;
    screens_ = fits_.screens + problem * rows_ * cols_;
    std::fill(row_seen_.at(0), row_seen_.at(2 * rows_), 0.0);
    std::fill(column_seen_.at(0), column_seen_.at(cols_), 0.0);
    const int second_page = model_.parts[1].first;
    for (int i = 0; i < rows_; ++i)
      for (int j = 0; j < cols_; ++j) {
        row_seen_[i + (j < second_page ? 0 : rows_)] += counts_[i * cols_ + j];
        column_seen_[j] += counts_[i * cols_ + j];
      }
  }

  void climb(const double* start) {
    for (int p = 0; p < size_; ++p) here_[p] = std::clamp(start[p], -fits_.far, fits_.far);
    value_ = look(here_);
    find_slopes();
    converged_ = false;
    double damping = 1e-3, trial[kSlots];
    for (int round = 0; round < kMostRounds && !converged_ && damping < 1e12; ++round) {
      double promised = 0.0, there = kNaN;
      if (step(damping, trial)) {
        for (int p = 0; p < size_; ++p) {
          trial[p] = std::clamp(here_[p] + std::clamp(trial[p], -kLargestMove, kLargestMove), -fits_.far, fits_.far);
          promised += (trial[p] - here_[p]) * gradient_[p];
        }
        // a step cut short may lead down: then damping turns it towards the gradient
        converged_ = promised >= 0 && promised < kGain + 1e-14 * std::abs(value_);
        there = look(trial);
      }
      const bool better = there >= value_;
      damping *= better ? 0.1 : 10.0;
      if (!better) continue;
      std::copy(trial, trial + size_, here_);
      value_ = there;
      if (!converged_) find_slopes();
    }
  }

  // Fisher's step, shortened. Parameters that nothing depends on, or that press against a bound, stay.
  bool step(double damping, double* move) {
    double system[kSlots][kSlots], most = 1e-300;
    bool free[kSlots];
    for (int p = 0; p < size_; ++p) most = std::max(most, information_[p][p]);
    for (int p = 0; p < size_; ++p) {
      const bool idle = information_[p][p] <= 1e-12 * most;
      const bool pressed = (here_[p] >= fits_.far && gradient_[p] > 0) || (here_[p] <= -fits_.far && gradient_[p] < 0);
      free[p] = !idle && !pressed;
      for (int q = 0; q < p; ++q) system[p][q] = free[p] && free[q] ? information_[p][q] : 0.0;
      system[p][p] = free[p] ? information_[p][p] + information_[p][p] * (damping + 1e-12) : 1.0;
      move[p] = free[p] ? gradient_[p] : 0.0;
    }
    return solve(system, move, size_);
  }

  // The log-likelihood, leaving behind what find_slopes needs.
  double look(const double* at) {
    model_.find_factors(at);
    double value = 0.0;
    bool possible = true;
    const auto add_seen = [&](double seen, double factor) { value += seen > 0 ? seen * std::log(factor) : 0.0; };
    for (int j = 0; j < cols_; ++j) add_seen(column_seen_[j], model_.column[j]);
    for (int p = 0; p < 2; ++p)
      for (int i = 0; i < rows_; ++i) {
        const Part& part = model_.parts[p];
        add_seen(row_seen_[p * rows_ + i], part.row[i]);
        for (int j = part.first, c = i * cols_ + j; j < part.end; ++j, ++c) {
          chance_[c] = part.row[i] * model_.column[j];
          possible = possible && chance_[c] <= 1;
          const double unseen = screens_[c] - counts_[c];
          if (unseen > 0) value += unseen * std::log1p(-chance_[c]);
        }
      }
    return possible ? value : -kInfinity;
  }

  // Gradient and expected information where `look` looked last.
  void find_slopes() {
    for (int p = 0; p < kSlots; ++p) {
      gradient_[p] = 0.0;
      std::fill(information_[p], information_[p] + kSlots, 0.0);
    }
    for (const Part& part : model_.parts)
      for (int i = 0; i < rows_; ++i) add_row(part, i);
  }

  void add_row(const Part& part, int i) {
    // sums over columns of the pull on a chance's logarithm, and of its curvature: alone, and times slopes of columns
    double pull = 0, pull_x = 0, pull_y = 0, bend = 0, bend_x = 0, bend_y = 0, bend_xx = 0, bend_xy = 0, bend_yy = 0;
    for (int j = part.first, c = i * cols_ + j; j < part.end; ++j, ++c) {
      const double chance = chance_[c], by_spread = chance / std::max(chance * (1 - chance), 1e-15);
      const double g = (counts_[c] - screens_[c] * chance) * by_spread, h = screens_[c] * chance * by_spread;
      const double x = model_.column_slope[j * kByColumn], y = model_.column_slope[j * kByColumn + 1];
      pull += g;
      pull_x += g * x;
      pull_y += g * y;
      bend += h;
      bend_x += h * x;
      bend_y += h * y;
      bend_xx += h * x * x;
      bend_xy += h * x * y;
      bend_yy += h * y * y;
    }
    const int x = part.slot[0], y = part.slot[1];
    gradient_[x] += pull_x;
    gradient_[y] += pull_y;
    add(x, x, bend_xx);
    add(x, y, bend_xy);
    add(y, y, bend_yy);
    for (int a = 0; a < kByRow; ++a) {
      const double slope = part.row_slope[i * kByRow + a];
      const int p = part.slot[kByColumn + a];
      gradient_[p] += pull * slope;
      add(p, x, bend_x * slope);
      add(p, y, bend_y * slope);
      for (int b = 0; b <= a; ++b) add(p, part.slot[kByColumn + b], bend * slope * part.row_slope[i * kByRow + b]);
    }
  }
  void add(int p, int q, double value) { information_[std::max(p, q)][std::min(p, q)] += value; }

  RowPageFits fits_;
  RowPageModel model_;
  int rows_, cols_, size_;
  Buffer<double> chance_;
  Buffer<double> row_seen_, column_seen_;  // all examined screens of their cells; rows on page 1, then on later pages
  const double *counts_ = nullptr, *screens_ = nullptr;
  double here_[kSlots], value_ = 0.0;
  bool converged_ = false;
  double gradient_[kSlots], information_[kSlots][kSlots];  // its lower triangle
};

}  // namespace
