// d_rpb fitted to how many screens each cell was examined on: damped Fisher scoring, step for step that of maximise.py.
//
// A chance is a factor of its row times one of its column, with factors of their own for page 1 and for later pages. So
// powers and logarithms are taken by row and by column, and the slope of a chance's logarithm by any parameter is one of
// the row's or one of the column's: the information needs nine sums over the columns of each row, and no more of cells.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "buffer.h"
#include "kernels.h"
#include "lanes.h"

namespace {

constexpr int kSlots = 10;  // nine parameters; those that are not free share the last slot, which nobody reads
constexpr double kLargestMove = 2.0;
constexpr int kMostRounds = 200;
constexpr double kGain = 1e-9;  // a step that promises less is not worth taking

// Solves system * x = right in place (Cholesky, the lower triangle is read); false if it is not positive definite.
inline bool solve(double (*system)[kSlots], double* right, int n) {
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
      : fits_(fits),
        rows_(fits.rows),
        cols_(fits.cols),
        chance_(rows_ * cols_),
        column_(cols_),
        column_slope_(cols_ * 2),
        column_seen_(cols_) {
    int next = kRho + 1;
    w_ = fits.w_free ? next++ : kSlots - 1;
    top_ = fits.top == Top::kFree ? next++ : kSlots - 1;
    fade_ = fits.fade_free ? next++ : kSlots - 1;
    size_ = next;
    const int first_page = int(std::min<int64_t>(fits.page_size, cols_));
    parts_[0].set(0, first_page, rows_, {kBeta, w_, kE, kKappa, kSlots - 1, kSlots - 1, kSlots - 1});
    parts_[1].set(first_page, cols_, rows_, {kSigma2, kRho, kE, kKappa, kSigma1, top_, fade_});
  }

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
  enum { kE, kKappa, kBeta, kSigma1, kSigma2, kRho };

  struct Share {
    explicit Share(double odds) : is(1 / (1 + std::exp(-odds))), rest(1 / (1 + std::exp(odds))) {}
    Share(double is, double rest) : is(is), rest(rest) {}
    double is, rest;
    double slope() const { return is * rest; }  // by its log-odds
  };

  static constexpr int kByColumn = 2, kByRow = 5;

  // Page 1, or all later pages.
  struct Part {
    void set(int first_column, int end_column, int rows, std::initializer_list<int> slots) {
      first = first_column;
      end = end_column;
      std::copy(slots.begin(), slots.end(), slot);
      row = Buffer<double>(rows);
      row_slope = Buffer<double>(rows * kByRow);
      row_seen = Buffer<double>(rows);
    }
    int first = 0, end = 0;       // columns
    int slot[kByColumn + kByRow];  // parameters by which the logarithm of a column's factor has a slope, then of a row's
    Buffer<double> row{0}, row_slope{0}, row_seen{0};  // factors, slopes of their logarithms, all screens of their cells
  };

  void read(int64_t problem) {
    counts_ = fits_.counts + problem * rows_ * cols_;
    screens_ = fits_.screens + problem * rows_ * cols_;
    std::fill(column_seen_.at(0), column_seen_.at(cols_), 0.0);
    for (Part& part : parts_)
      for (int i = 0; i < rows_; ++i) {
        part.row_seen[i] = 0.0;
        for (int j = part.first; j < part.end; ++j) {
          part.row_seen[i] += counts_[i * cols_ + j];
          column_seen_[j] += counts_[i * cols_ + j];
        }
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
    find_factors(at);
    double value = 0.0;
    const auto add_seen = [&](double seen, double factor) { value += seen > 0 ? seen * std::log(factor) : 0.0; };
    for (int j = 0; j < cols_; ++j) add_seen(column_seen_[j], column_[j]);
    for (const Part& part : parts_)
      for (int i = 0; i < rows_; ++i) {
        add_seen(part.row_seen[i], part.row[i]);
        for (int j = part.first, c = i * cols_ + j; j < part.end; ++j, ++c) {
          chance_[c] = part.row[i] * column_[j];
          if (!(chance_[c] <= 1)) return -kInfinity;
          const double unseen = screens_[c] - counts_[c];
          if (unseen > 0) value += unseen * std::log1p(-chance_[c]);
        }
      }
    return value;
  }

  // The factors of rows and columns, and the slopes of their logarithms by the log-odds of the parameters.
  void find_factors(const double* at) {
    const Share none(0.0, 1.0), e(at[kE]), kappa(at[kKappa]), beta(at[kBeta]), sigma1(at[kSigma1]), sigma2(at[kSigma2]),
        rho(at[kRho]), w = fits_.w_free ? Share(at[w_]) : none, fade = fits_.fade_free ? Share(at[fade_]) : none,
        top = fits_.top == Top::kFree      ? Share(at[top_])
              : fits_.top == Top::kNovelty ? Share(sigma1.is + sigma1.rest * fade.is, sigma1.rest * fade.rest)
                                           : sigma1;
    const double top_by_sigma1 = fits_.top == Top::kFree ? 0.0 : fits_.top == Top::kNovelty ? fade.rest : 1.0;
    const double top_by_fade = fits_.top == Top::kNovelty ? sigma1.rest : 0.0;
    double reached = e.is, left = 1.0;  // left: of what row 1 is swiped more
    for (int i = 0; i < rows_; ++i, reached *= kappa.is, left *= fade.is) {
      const double more = top.is - sigma1.is, swipe = sigma1.is + more * left;
      double *slope = parts_[0].row_slope.at(i * kByRow), *later = parts_[1].row_slope.at(i * kByRow);
      parts_[0].row[i] = reached;
      parts_[1].row[i] = reached * swipe;
      slope[0] = later[0] = e.rest;
      slope[1] = later[1] = i * kappa.rest;
      later[2] = ratio((1 - left + left * top_by_sigma1) * sigma1.slope(), swipe);
      later[3] = ratio(left * top.slope(), swipe);
      later[4] = ratio(left * (more * i * fade.rest + top_by_fade * fade.slope()), swipe);
    }
    for (int j = 0; j < cols_; ++j) {
      const int64_t page = j / fits_.page_size, slot = j % fits_.page_size;
      const double right = double(fits_.page_size - 1 - slot), turns = double(page - 1);
      double* slope = column_slope_.at(j * kByColumn);
      if (page == 0) {
        const double from_left = std::pow(beta.is, double(slot)), from_right = std::pow(beta.is, right);
        column_[j] = from_left + w.is * from_right * (1 - from_left);
        slope[0] = ratio(beta.rest * (double(slot) * from_left * (1 - w.is * from_right) +
                                      right * w.is * from_right * (1 - from_left)), column_[j]);
        slope[1] = ratio(w.slope() * from_right * (1 - from_left), column_[j]);
      } else {
        column_[j] = std::pow(sigma2.is, turns) * std::pow(rho.is, right);
        slope[0] = turns * sigma2.rest;
        slope[1] = right * rho.rest;
      }
    }
  }
  static double ratio(double a, double b) { return b > 0 ? a / b : 0.0; }  // a factor may be too small for a number

  // Gradient and expected information where `look` looked last.
  void find_slopes() {
    for (int p = 0; p < kSlots; ++p) {
      gradient_[p] = 0.0;
      std::fill(information_[p], information_[p] + kSlots, 0.0);
    }
    for (const Part& part : parts_)
      for (int i = 0; i < rows_; ++i) add_row(part, i);
  }

  void add_row(const Part& part, int i) {
    // sums over columns of the pull on a chance's logarithm, and of its curvature: alone, and times slopes of columns
    double pull = 0, pull_x = 0, pull_y = 0, bend = 0, bend_x = 0, bend_y = 0, bend_xx = 0, bend_xy = 0, bend_yy = 0;
    for (int j = part.first, c = i * cols_ + j; j < part.end; ++j, ++c) {
      const double chance = chance_[c], by_spread = chance / std::max(chance * (1 - chance), 1e-15);
      const double g = (counts_[c] - screens_[c] * chance) * by_spread, h = screens_[c] * chance * by_spread;
      const double x = column_slope_[j * kByColumn], y = column_slope_[j * kByColumn + 1];
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
  int rows_, cols_, size_;
  int w_, top_, fade_;  // slots
  Part parts_[2];
  Buffer<double> chance_;
  Buffer<double> column_, column_slope_, column_seen_;  // as those of the rows
  const double *counts_ = nullptr, *screens_ = nullptr;
  double here_[kSlots], value_ = 0.0;
  bool converged_ = false;
  double gradient_[kSlots], information_[kSlots][kSlots];  // its lower triangle
};

}  // namespace
