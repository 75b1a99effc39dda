// The best page found so far, and ways to find better ones from the rows of categories.
#pragma once

#include "candidates.h"
#include "item_matching.h"
#include "item_types.h"
#include "search_limits.h"

namespace {

class BestPage {
 public:
  BestPage(const CandidateSizes& most, SearchLimits& limits, Pieces& pieces)
      : limits_(limits), matching_(most, pieces), trial_(most), column_(most.categories), best_column_(most.categories),
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
  const int* column() const { return best_column_.at(0); }  // by free category, -1: left out

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

  // Places items as well as can be if categories stand on these columns (-1: left out), unless that was tried lately.
  void try_columns(const int* column, bool always = false) {
    Candidates& set = *set_;
    uint64_t hash = 1469598103934665603u;
    for (int a = 0; a < set.free(); ++a) hash = (hash ^ uint64_t(column[a] + 1)) * 1099511628211u;
    uint64_t& recent = recent_[int((hash ^ (hash >> 32)) % kRecent)];
    if (recent == hash && !always) return;
    recent = hash;
    matching_.choose_again(set, column);
    limits_.add(matching_.improve(set, trial_.category.at(0)));
    for (int a = 0; a < set.active(); ++a)
      trial_.row[a] = a >= set.free() ? set.pin(a) : column[a] < 0 ? -1 : set.row(column[a]);
    const double value = ::worth(set, trial_, false);
    if (!(value > worth_)) return;
    worth_ = value;
    for (int a = 0; a < set.free(); ++a) best_column_[a] = column[a];
    for (int a = 0; a < set.active(); ++a) page_->row[a] = trial_.row[a];
    for (int t = 0; t < set.items(); ++t) page_->category[t] = trial_.category[t];
  }

  // The same after exchanging rows as long as that helps the quick matching; in huge sets that would take too long.
  void try_exchanges(const int* column) {
    const Candidates& set = *set_;
    if (int64_t(set.free()) * set.items() > kMostExchanged) return try_columns(column);
    for (int a = 0; a < set.free(); ++a) column_[a] = column[a];
    double best = matching_.choose_quickly(set, column_.at(0));
    for (bool better = true; better && !limits_.spent();) {
      better = false;
      for (int a = 0; a < set.free(); ++a)
        for (int b = a + 1; b < set.free(); ++b) {
          if (column_[a] == column_[b] || limits_.spent()) continue;
          limits_.add(matching_.members());
          std::swap(column_[a], column_[b]);
          const double value = matching_.choose_quickly(set, column_.at(0));
          if (value > best + kExact * best) {
            best = value;
            better = true;
          } else {
            std::swap(column_[a], column_[b]);
          }
        }
    }
    try_columns(column_.at(0));
  }

  // Prices at which no page with these columns is worth more than the best of them.
  void find_prices(const int* column, const ItemTypes& types, double* price) {
    try_columns(column, true);
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
  Buffer<int> column_, best_column_;
  Buffer<double> price_;     // by item
  Buffer<uint64_t> recent_;  // columns tried lately, by their hash
  double worth_ = 0.0, passed_ = 0.0;
  Candidates* set_ = nullptr;
  Arrangement* page_ = nullptr;
};

}  // namespace
