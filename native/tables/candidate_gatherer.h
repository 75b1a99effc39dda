// Which items may stand in the ideal page of a user or page: those judged that gain something, with their categories.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tables/code_map.h"
#include "tables/membership.h"

namespace {

// Problems one after the other; items and categories of a problem are numbered from 0.
struct CandidateLists {
  // per problem
  std::vector<int64_t> item_offsets{0}, category_offsets{0};
  std::vector<int32_t> open;           // rows from the top that categories may take
  std::vector<int32_t> uncategorised;  // items that gain but have no category
  // per item
  std::vector<double> gain;
  std::vector<int64_t> judgment;
  std::vector<int64_t> item_category_offsets{0};
  // per item and category
  std::vector<int32_t> item_categories;
  // per category
  std::vector<uint32_t> category;
  std::vector<int32_t> slots, pinned;  // the row it is pinned to, from 0, else -1
};

struct Pin {
  static constexpr const char* kNumbers = "a pin has a row, a category and room";

  uint32_t row, category, room;  // the row counts from 0
};

class CandidateGatherer {
 public:
  CandidateGatherer(const Membership& membership, const uint32_t* sizes, uint32_t categories, int rows, int cols)
      : membership_(membership), sizes_(sizes), categories_(categories), rows_(rows), cols_(cols) {
    const Carousels& carousels = membership.carousels;
    for (uint32_t k = 0; k < categories; ++k)
      shared_ += sizes[k] > 0 && (k >= carousels.categories || !carousels.restricted[k]);
  }

  void gather(int64_t begin, int64_t end, const uint32_t* item, const double* gain, uint32_t user, const Pin* pins,
              int64_t pin_count, CandidateLists& out) {
    int most = shared_;
    add_personal_categories(user, most);
    const size_t first = out.category.size();
    const auto local = [&](uint32_t category) {
      uint32_t& number = local_.at(category, kNone);
      if (number == kNone) {
        number = uint32_t(out.category.size() - first);
        out.category.push_back(category);
        out.slots.push_back(slots(user, category, membership_.carousels.room(user, category)));
        out.pinned.push_back(-1);
      }
      return number;
    };
    size_t memberships = size_t(pin_count);
    for (int64_t j = begin; j < end; ++j)
      if (gain[j] > 0) membership_.each(user, item[j], [&](uint32_t) { ++memberships; });
    local_.clear(memberships);
    for (int64_t p = 0; p < pin_count; ++p) {
      const size_t k = first + local(pins[p].category);
      if (out.pinned[k] >= 0) continue;  // a category stands once, also where a page shows it twice
      out.pinned[k] = int32_t(pins[p].row);
      out.slots[k] = slots(user, pins[p].category, pins[p].room);
    }
    int32_t uncategorised = 0;
    for (int64_t j = begin; j < end; ++j) {
      if (!(gain[j] > 0)) continue;
      const size_t before = out.item_categories.size();
      membership_.each(user, item[j],
                       [&](uint32_t category) { out.item_categories.push_back(int32_t(local(category))); });
      if (out.item_categories.size() == before) {
        ++uncategorised;
        continue;
      }
      out.gain.push_back(gain[j]);
      out.judgment.push_back(j);
      out.item_category_offsets.push_back(int64_t(out.item_categories.size()));
    }
    out.item_offsets.push_back(int64_t(out.gain.size()));
    out.category_offsets.push_back(int64_t(out.category.size()));
    out.open.push_back(most < rows_ ? most : rows_);
    out.uncategorised.push_back(uncategorised);
  }

 private:
  // The cells that a category can fill: as many as it has items, room and columns.
  int32_t slots(uint32_t user, uint32_t category, uint32_t room) {
    if (!membership_.carousels.open(user, category)) return 0;
    const uint32_t extra = extra_.get(category);
    const uint32_t size = (category < categories_ ? sizes_[category] : 0) + (extra == kNone ? 0 : extra);
    return int32_t(std::min({size, room, uint32_t(cols_)}));
  }

  // What a user's own lines and memberships add to the number of categories and to the size of each.
  void add_personal_categories(uint32_t user, int& most) {
    const Carousels& carousels = membership_.carousels;
    for (int64_t line = carousels.users.begin(user); line < carousels.users.end(user); ++line) {
      const uint32_t category = uint32_t(carousels.personal[line] >> 32);
      most += category < carousels.categories && carousels.restricted[category] && has_members(category);
    }
    const uint64_t* begin = membership_.personal_begin(user);
    const uint64_t* end = membership_.personal_end(user);
    extra_.clear(size_t(end - begin));
    for (const uint64_t* line = begin; line < end; ++line) {
      const uint32_t category = uint32_t(*line);
      if (!carousels.open(user, category)) continue;
      if (extra_.at(category, 0)++ == 0 && !has_members(category)) ++most;
    }
  }

  bool has_members(uint32_t category) const { return category < categories_ && sizes_[category] > 0; }

  const Membership membership_;
  const uint32_t* sizes_;  // members for everyone, per category
  const uint32_t categories_;
  const int rows_, cols_;
  int shared_ = 0;  // categories with members for everyone
  CodeMap local_, extra_;
};

}  // namespace
