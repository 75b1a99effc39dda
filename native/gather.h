// Who may stand in the ideal page of a truth: its items that gain something, each with its categories.
#pragma once

#include <cstdint>
#include <vector>

#include "membership.h"

namespace {

// Problems one after the other; items and categories of a problem are numbered from 0.
struct Gathered {
  std::vector<double> gain;                              // per item
  std::vector<int64_t> judgment;                         // per item
  std::vector<int32_t> homes;                            // per item and category
  std::vector<int64_t> home_offsets{0};                  // per item
  std::vector<int32_t> slots, pinned;                    // per category; the row it is pinned to, from 0, else -1
  std::vector<uint32_t> category;                        // per category
  std::vector<int64_t> item_offsets{0}, category_offsets{0};  // per problem
  std::vector<int32_t> open;                             // per problem: rows from the top that categories may take
  std::vector<int32_t> strays;                           // per problem: items that gain but have no category
};

struct Pin {
  uint32_t row, category;  // the row counts from 0
};

class Gatherer {
 public:
  Gatherer(const Membership& membership, const uint32_t* sizes, uint32_t categories, int rows, int cols)
      : membership_(membership), sizes_(sizes), categories_(categories), rows_(rows), cols_(cols) {
    for (uint32_t k = 0; k < categories; ++k) everyones_ += sizes[k] > 0;
  }

  void gather(int64_t begin, int64_t end, const uint32_t* item, const double* gain, uint32_t user, const Pin* pins,
              int64_t pin_count, Gathered& out) {
    int most = everyones_;
    personal_sizes(user, most);
    const size_t first = out.category.size();
    const auto local = [&](uint32_t category) {
      uint32_t& at = local_.at(category, kNone);
      if (at == kNone) {
        at = uint32_t(out.category.size() - first);
        const uint32_t extra = extra_.get(category);
        const uint32_t size = (category < categories_ ? sizes_[category] : 0) + (extra == kNone ? 0 : extra);
        out.category.push_back(category);
        out.slots.push_back(size < uint32_t(cols_) ? int32_t(size) : cols_);
        out.pinned.push_back(-1);
      }
      return at;
    };
    size_t homes = size_t(pin_count);
    for (int64_t j = begin; j < end; ++j)
      if (gain[j] > 0) membership_.each(user, item[j], [&](uint32_t) { ++homes; });
    local_.start(homes);
    for (int64_t p = 0; p < pin_count; ++p) {
      int32_t& row = out.pinned[first + local(pins[p].category)];
      if (row < 0) row = int32_t(pins[p].row);  // a category stands once, also where a page shows it twice
    }
    int32_t strays = 0;
    for (int64_t j = begin; j < end; ++j) {
      if (!(gain[j] > 0)) continue;
      const size_t before = out.homes.size();
      membership_.each(user, item[j], [&](uint32_t category) { out.homes.push_back(int32_t(local(category))); });
      if (out.homes.size() == before) {
        ++strays;
        continue;
      }
      out.gain.push_back(gain[j]);
      out.judgment.push_back(j);
      out.home_offsets.push_back(int64_t(out.homes.size()));
    }
    out.item_offsets.push_back(int64_t(out.gain.size()));
    out.category_offsets.push_back(int64_t(out.category.size()));
    out.open.push_back(most < rows_ ? most : rows_);
    out.strays.push_back(strays);
  }

 private:
  // What a user's own memberships add to the size of each category and to the number of categories.
  void personal_sizes(uint32_t user, int& most) {
    const uint64_t* begin = membership_.personal_begin(user);
    const uint64_t* end = membership_.personal_end(user);
    extra_.start(size_t(end - begin));
    for (const uint64_t* at = begin; at < end; ++at) {
      const uint32_t category = uint32_t(*at);
      const bool of_all = category < categories_ && sizes_[category] > 0;
      if (extra_.at(category, 0)++ == 0 && !of_all) ++most;
    }
  }

  const Membership membership_;
  const uint32_t* sizes_;  // members for everyone, per category
  const uint32_t categories_;
  const int rows_, cols_;
  int everyones_ = 0;  // categories with members for everyone
  Scratch local_, extra_;
};

}  // namespace
