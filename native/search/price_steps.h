// Steps towards prices and fees with a lower bound: a subgradient method.
//
// Steps are Polyak's, towards a bound equal to the best page, along a mean of the last directions; shorter whenever the
// bound stalls.
#pragma once

#include "search/lagrangian_bound.h"

namespace {

class PriceSteps {
 public:
  explicit PriceSteps(const CandidateSizes& most) : prices(most), best_type_(most.items), type_direction_(most.items) {}

  Prices prices;
  Buffer<double> fee{0};  // by level and place

  void read(const ItemTypes& types, int fees) {
    types_ = &types;
    fees_ = fees;
    for (auto* values : {&fee, &best_fee_, &fee_direction_}) values->reserve(fees);
    for (int n = 0; n < fees; ++n) fee[n] = 0.0;
  }

  // Starts at today's prices.
  void start() {
    length_ = kFirst;
    stalled_ = 0;
    for (int y = 0; y < types_->count(); ++y) type_direction_[y] = 0.0;
    for (int n = 0; n < fees_; ++n) fee_direction_[n] = 0.0;
  }

  // Today's prices gave the lowest bound so far.
  void keep() {
    stalled_ = 0;
    for (int y = 0; y < types_->count(); ++y) best_type_[y] = prices.type[y];
    for (int n = 0; n < fees_; ++n) best_fee_[n] = fee[n];
  }
  // They did not; false if that happened too often.
  bool stall() {
    if (++stalled_ < kPatience) return true;
    stalled_ = 0;
    length_ *= kShorter;
    return length_ >= kShortest;
  }
  void go_back() {
    for (int y = 0; y < types_->count(); ++y) prices.type[y] = best_type_[y];
    for (int n = 0; n < fees_; ++n) fee[n] = best_fee_[n];
  }

  // Copies of all prices and fees, to come back to.
  int64_t size() const { return types_->count() + fees_; }
  void save(double* to) const {
    for (int y = 0; y < types_->count(); ++y) *to++ = prices.type[y];
    for (int n = 0; n < fees_; ++n) *to++ = fee[n];
  }
  void restore(const double* from) {
    for (int y = 0; y < types_->count(); ++y) prices.type[y] = *from++;
    for (int n = 0; n < fees_; ++n) fee[n] = *from++;
  }

  // What was counted too often (or, negative, less often than allowed) at the last bound.
  void add_type(int y, double excess) { add(prices.type[y], type_direction_[y], excess); }
  void add_fee(int n, double excess) { add(fee[n], fee_direction_[n], excess); }

  // Takes the step; false if the bound cannot fall.
  bool move(double distance) {
    double norm = 0.0;
    for (int y = 0; y < types_->count(); ++y) norm += type_direction_[y] * type_direction_[y];
    for (int n = 0; n < fees_; ++n) norm += fee_direction_[n] * fee_direction_[n];
    if (norm == 0.0) return false;
    const double step = length_ * distance / norm;
    for (int y = 0; y < types_->count(); ++y)
      prices.type[y] = std::max(0.0, prices.type[y] + step * type_direction_[y]);
    for (int n = 0; n < fees_; ++n) fee[n] = std::max(0.0, fee[n] + step * fee_direction_[n]);
    return true;
  }

 private:
  static constexpr double kMemory = 0.4, kFirst = 1.5, kShorter = 0.7, kShortest = 0.3;
  static constexpr int kPatience = 5;

  static void add(double price, double& direction, double excess) {
    direction = kMemory * direction + excess;
    if (price <= 0 && direction < 0) direction = 0.0;
  }

  const ItemTypes* types_ = nullptr;
  int fees_ = 0, stalled_ = 0;
  double length_ = 0.0;
  Buffer<double> best_type_, type_direction_, best_fee_{0}, fee_direction_{0};
};

}  // namespace
