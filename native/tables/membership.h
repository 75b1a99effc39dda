// Which categories an item belongs to, for everyone and for single users besides; and what is declared of carousels.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/offsets.h"

namespace {

// How much the carousel of each category holds, and whom it is for.
struct Carousels {
  static constexpr uint32_t kUnlimited = INT32_MAX;

  const int32_t* capacity = nullptr;    // per category
  const uint8_t* restricted = nullptr;  // per category: whether only users with a line of their own have it
  uint32_t categories = 0;
  Offsets users{nullptr, 0};           // per user
  const uint64_t* personal = nullptr;  // a user's category << 32 | capacity, sorted

  // A user's own line about a category, or null.
  const uint64_t* line(uint32_t user, uint32_t category) const {
    const uint64_t* end = personal + users.end(user);
    const uint64_t* line = std::lower_bound(personal + users.begin(user), end, uint64_t(category) << 32);
    return line < end && *line >> 32 == category ? line : nullptr;
  }

  bool open(uint32_t user, uint32_t category) const {
    return category >= categories || !restricted[category] || line(user, category);
  }

  uint32_t room(uint32_t user, uint32_t category) const {
    if (users.count > 0)
      if (const uint64_t* found = line(user, category); found && uint32_t(*found) < kUnlimited) return uint32_t(*found);
    return category < categories ? uint32_t(capacity[category]) : kUnlimited;
  }
};

struct Membership {
  Offsets items;               // per item
  const uint32_t* categories;  // of each item, for everyone
  Offsets users;               // per user
  const uint64_t* personal;    // a user's item << 32 | category, by item, none of them for everyone too
  Carousels carousels;         // a category that a user does not have holds nothing for that user

  const uint32_t* begin(uint32_t item) const { return categories + items.begin(item); }
  const uint32_t* end(uint32_t item) const { return categories + items.end(item); }
  const uint64_t* personal_begin(uint32_t user) const { return personal + users.begin(user); }
  const uint64_t* personal_end(uint32_t user) const { return personal + users.end(user); }

  bool holds(uint32_t user, uint32_t item, uint32_t category) const {
    if (!carousels.open(user, category)) return false;
    for (const uint32_t* shared = begin(item); shared < end(item); ++shared)
      if (*shared == category) return true;
    bool found = false;
    each_personal(user, item, [&](uint32_t personal) { found |= personal == category; });
    return found;
  }

  // Calls visit(category) for every category of an item.
  template <class Visit>
  void each(uint32_t user, uint32_t item, Visit visit) const {
    const auto visit_open = [&](uint32_t category) {
      if (carousels.open(user, category)) visit(category);
    };
    std::for_each(begin(item), end(item), visit_open);
    each_personal(user, item, visit_open);
  }

 private:
  template <class Visit>
  void each_personal(uint32_t user, uint32_t item, Visit visit) const {
    const uint64_t* last = personal_end(user);
    const uint64_t* line = std::lower_bound(personal_begin(user), last, uint64_t(item) << 32);
    for (; line < last && *line >> 32 == item; ++line) visit(uint32_t(*line));
  }
};

}  // namespace
