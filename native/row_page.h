// d_rpb cell by cell, with the slopes of its chances by the log-odds of its parameters.
//
// A chance is a factor of its row times one of its column, with factors of their own for page 1 and for later pages. So
// powers and logarithms are taken by row and by column only, and the slope of a chance's logarithm by any parameter is
// one of the row's or one of the column's.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "buffer.h"
#include "kernels.h"

namespace {

class RowPageModel {
 public:
  static constexpr int kSlots = 10;  // nine parameters; those that are not free share the last slot, which nobody reads
  static constexpr int kByColumn = 2, kByRow = 5;

  // Page 1, or all later pages.
  struct Part {
    void set(int first_column, int end_column, int rows, std::initializer_list<int> slots) {
      first = first_column;
      end = end_column;
      std::copy(slots.begin(), slots.end(), slot);
      row = Buffer<double>(rows);
      row_slope = Buffer<double>(rows * kByRow);
    }
    int first = 0, end = 0;  // columns
    int slot[kByColumn +
             kByRow];  // parameters by which the logarithm of a column's factor has a slope, then of a row's
    Buffer<double> row{0}, row_slope{0};  // factors, slopes of their logarithms
  };

  explicit RowPageModel(const RowPageForm& form)
      : rows(form.rows), cols(form.cols), column(cols), column_slope(cols * kByColumn), form_(form) {
    int next = kRho + 1;
    w_ = form.w_free ? next++ : kSlots - 1;
    top_ = form.top == Top::kFree ? next++ : kSlots - 1;
    fade_ = form.fade_free ? next++ : kSlots - 1;
    size = next;
    const int first_page = int(std::min<int64_t>(form.page_size, cols));
    parts[0].set(0, first_page, rows, {kBeta, w_, kE, kKappa, kSlots - 1, kSlots - 1, kSlots - 1});
    parts[1].set(first_page, cols, rows, {kSigma2, kRho, kE, kKappa, kSigma1, top_, fade_});
  }

  // The factors of rows and columns, and the slopes of their logarithms by the log-odds of the parameters.
  void find_factors(const double* at) {
    const Share none(0.0, 1.0), e(at[kE]), kappa(at[kKappa]), beta(at[kBeta]), sigma1(at[kSigma1]), sigma2(at[kSigma2]),
        rho(at[kRho]),
        w = form_.w_free ? Share(at[w_]) : none, fade = form_.fade_free ? Share(at[fade_]) : none,
        top = form_.top == Top::kFree      ? Share(at[top_])
              : form_.top == Top::kNovelty ? Share(sigma1.is + sigma1.rest * fade.is, sigma1.rest * fade.rest)
                                           : sigma1;
    const double top_by_sigma1 = form_.top == Top::kFree ? 0.0 : form_.top == Top::kNovelty ? fade.rest : 1.0;
    const double top_by_fade = form_.top == Top::kNovelty ? sigma1.rest : 0.0;
    double reached = e.is, left = 1.0;  // left: of what row 1 is swiped more
    for (int i = 0; i < rows; ++i, reached *= kappa.is, left *= fade.is) {
      const double more = top.is - sigma1.is, swipe = sigma1.is + more * left;
      double *slope = parts[0].row_slope.at(i * kByRow), *later = parts[1].row_slope.at(i * kByRow);
      parts[0].row[i] = reached;
      parts[1].row[i] = reached * swipe;
      slope[0] = later[0] = e.rest;
      slope[1] = later[1] = i * kappa.rest;
      later[2] = ratio((1 - left + left * top_by_sigma1) * sigma1.slope(), swipe);
      later[3] = ratio(left * top.slope(), swipe);
      later[4] = ratio(left * (more * i * fade.rest + top_by_fade * fade.slope()), swipe);
    }
    for (int j = 0; j < cols; ++j) {
      const int64_t page = j / form_.page_size, slot = j % form_.page_size;
      const double right = double(form_.page_size - 1 - slot), turns = double(page - 1);
      double* slope = column_slope.at(j * kByColumn);
      if (page == 0) {
        const double from_left = std::pow(beta.is, double(slot)), from_right = std::pow(beta.is, right);
        column[j] = from_left + w.is * from_right * (1 - from_left);
        slope[0] = ratio(beta.rest * (double(slot) * from_left * (1 - w.is * from_right) +
                                      right * w.is * from_right * (1 - from_left)),
                         column[j]);
        slope[1] = ratio(w.slope() * from_right * (1 - from_left), column[j]);
      } else {
        column[j] = std::pow(sigma2.is, turns) * std::pow(rho.is, right);
        slope[0] = turns * sigma2.rest;
        slope[1] = right * rho.rest;
      }
    }
  }

  // All chances, and their slopes by each free parameter.
  void write(const double* at, double* chances, double* slopes) {
    find_factors(at);
    for (const Part& part : parts)
      for (int i = 0; i < rows; ++i)
        for (int j = part.first; j < part.end; ++j) {
          const double chance = chances[i * cols + j] = part.row[i] * column[j];
          double by_slot[kSlots] = {};
          for (int a = 0; a < kByColumn; ++a) by_slot[part.slot[a]] = chance * column_slope[j * kByColumn + a];
          for (int a = 0; a < kByRow; ++a) by_slot[part.slot[kByColumn + a]] = chance * part.row_slope[i * kByRow + a];
          std::copy(by_slot, by_slot + size, slopes + (i * cols + j) * size);
        }
  }

  int rows, cols, size;  // size: free parameters
  Part parts[2];
  Buffer<double> column, column_slope;

 private:
  enum { kE, kKappa, kBeta, kSigma1, kSigma2, kRho };

  struct Share {
    explicit Share(double odds) : is(1 / (1 + std::exp(-odds))), rest(1 / (1 + std::exp(odds))) {}
    Share(double is, double rest) : is(is), rest(rest) {}
    double is, rest;
    double slope() const { return is * rest; }  // by its log-odds
  };

  static double ratio(double a, double b) { return b > 0 ? a / b : 0.0; }  // a factor may be too small for a number

  RowPageForm form_;
  int w_, top_, fade_;  // slots
};

}  // namespace
