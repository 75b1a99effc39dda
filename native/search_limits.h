// How far a search for one set's best page goes.
#pragma once

#include <cstdint>

#include "pieces.h"

namespace {

// Work is counted in steps of about a nanosecond, never by a clock, so that results do not depend on the machine.
class SearchLimits {
 public:
  SearchLimits(double tolerance, int64_t work_limit, Pieces& pieces)
      : tolerance(tolerance), work_limit_(work_limit), pieces_(pieces) {}

  const double tolerance;  // relative: a gap that need not be closed

  void start() { work_ = next_check_ = 0; }
  void add(int64_t steps) {
    work_ += steps;
    if (work_ < next_check_) return;
    next_check_ = work_ + kCheckSteps;
    pieces_.check_stop();
  }
  bool spent() const { return work_ >= work_limit_; }

 private:
  static constexpr int64_t kCheckSteps = 100'000;  // asking looks at the clock

  int64_t work_limit_, work_ = 0, next_check_ = 0;
  Pieces& pieces_;
};

}  // namespace
