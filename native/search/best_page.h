// The best page found so far, and ways to find better ones from the rows of categories.
#pragma once

#include "core/work_queue.h"
#include "search/candidates.h"
#include "search/item_matching.h"
#include "search/item_types.h"

namespace {

// How far the search for one set's best page goes.
// Work is counted in steps of about a nanosecond, never by a clock, so that results do not depend on the machine.
class SearchLimits {
 public:
  SearchLimits(double tolerance, int64_t work_limit, WorkQueue& queue)
      : tolerance(tolerance), work_limit_(work_limit), queue_(queue) {}

  const double tolerance;  // relative: a gap that need not be closed

  void start() { work_ = next_check_ = 0; }
  void add(int64_t steps) {
    work_ += steps;
    if (work_ < next_check_) return;
    next_check_ = work_ + kCheckSteps;
    queue_.check_stop();
  }
  bool spent() const { return work_ >= work_limit_; }

 private:
  static constexpr int64_t kCheckSteps = 100'000;  // asking looks at the clock

  int64_t work_limit_, work_ = 0, next_check_ = 0;
  WorkQueue& queue_;
};

class BestPage {
 public:
  BestPage(const CandidateSizes& most, SearchLimits& limits, WorkQueue& queue)
      : limits_(limits), matching_(most, queue), trial_(most), place_(most.categories), best_place_(most.categories),
        price_(most.items), recent_(kRecent) {}

  // The pages of a set are written into `page`.
  void read(Candidates& set, Arrangement& page) {
    set_ = &set;
    page_ = &page;
    matching_.read(set);
    for (int h = 0; h < kRecent; ++h) recent_[h] = 0;
    worth_ = -1.0;
    passed_ = 0.0;
  }

  double worth() const { return worth_; }
  const int* place() const { return best_place_.at(0); }  // by free category, -1: left out

  // Whether pages up to this bound are worth a search. Those that are not are remembered, if they might be better.
  bool beaten_by(double bound) {
    if (bound > enough()) return true;
    passed_ = std::max(passed_, bound);
    return false;
  }
  double enough() const { return worth_ + std::max(kExact, limits_.tolerance) * worth_; }

  // A bound on all pages that were not searched.
  double bound() const { return passed_ > worth_ + kExact * worth_ ? passed_ : worth_; }
  const ItemMatching& matching() const { return matching_; }

  // Arranges items as well as can be if categories stand on these places (-1: left out), unless that was tried lately.
  void try_places(const int* place, bool always = false) {
    Candidates& set = *set_;
    uint64_t hash = 1469598103934665603u;
    for (int a = 0; a < set.free(); ++a) hash = (hash ^ uint64_t(place[a] + 1)) * 1099511628211u;
    uint64_t& recent = recent_[int((hash ^ (hash >> 32)) % kRecent)];
    if (recent == hash && !always) return;
    recent = hash;
    matching_.choose_again(set, place);
    limits_.add(matching_.improve(set, trial_.category.at(0)));
    for (int a = 0; a < set.active(); ++a)
      trial_.row[a] = a >= set.free() ? set.pin(a) : place[a] < 0 ? -1 : set.row(place[a]);
    const double value = ::worth(set, trial_, false);
    if (!(value > worth_)) return;
    worth_ = value;
    for (int a = 0; a < set.free(); ++a) best_place_[a] = place[a];
    for (int a = 0; a < set.active(); ++a) page_->row[a] = trial_.row[a];
    for (int t = 0; t < set.items(); ++t) page_->category[t] = trial_.category[t];
  }

  // The same after exchanging rows as long as that helps the quick matching; in huge sets that would take too long.
  void try_exchanges(const int* place) {
    const Candidates& set = *set_;
    if (int64_t(set.free()) * set.items() > kMostExchanged) return try_places(place);
    for (int a = 0; a < set.free(); ++a) place_[a] = place[a];
    double best = matching_.choose_quickly(set, place_.at(0));
    for (bool better = true; better && !limits_.spent();) {
      better = false;
      for (int a = 0; a < set.free(); ++a)
        for (int b = a + 1; b < set.free(); ++b) {
          if (place_[a] == place_[b] || limits_.spent()) continue;
          limits_.add(matching_.members());
          std::swap(place_[a], place_[b]);
          const double value = matching_.choose_quickly(set, place_.at(0));
          if (value > best + kExact * best) {
            best = value;
            better = true;
          } else {
            std::swap(place_[a], place_[b]);
          }
        }
    }
    try_places(place_.at(0));
  }

  // Prices at which no page with these places is worth more than the best of them.
  void find_prices(const int* place, const ItemTypes& types, double* price) {
    try_places(place, true);
    matching_.find_prices(price_.at(0));
    for (int y = 0; y < types.count(); ++y) price[y] = 0.0;
    for (const Member* m = matching_.begin(); m < matching_.end(); ++m) {
      const int y = types.of_item(m->item);
      if (types.shared(y)) price[y] += price_[m->item] / types.copies(y);
    }
  }

 private:
  static constexpr int kRecent = 256;
  static constexpr int64_t kMostExchanged = 100'000'000;
  static constexpr double kExact = 1e-12;  // relative: rounding in a bound

  SearchLimits& limits_;
  ItemMatching matching_;
  Arrangement trial_;
  Buffer<int> place_, best_place_;
  Buffer<double> price_;     // by item
  Buffer<uint64_t> recent_;  // places tried lately, by their hash
  double worth_ = 0.0, passed_ = 0.0;
  Candidates* set_ = nullptr;
  Arrangement* page_ = nullptr;
};

}  // namespace
