// Which categories an item belongs to, for everyone and for single users besides; and what is declared of carousels.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lists.h"

namespace {

// How much the carousel of each category holds, and whom it is for.
struct Carousels {
  static constexpr uint32_t kUnlimited = INT32_MAX;

  const int32_t* capacity = nullptr;    // per category
  const uint8_t* restricted = nullptr;  // per category: whether only users with a line of their own have it
  uint32_t categories = 0;
  Lists users{nullptr, 0};        // per user
  const uint64_t* own = nullptr;  // a user's category << 32 | capacity, sorted

  // A user's own line about a category, or null.
  const uint64_t* line(uint32_t user, uint32_t category) const {
    const uint64_t* end = own + users.end(user);
    const uint64_t* at = std::lower_bound(own + users.begin(user), end, uint64_t(category) << 32);
    return at < end && *at >> 32 == category ? at : nullptr;
  }

  bool open(uint32_t user, uint32_t category) const {
    return category >= categories || !restricted[category] || line(user, category);
  }

  uint32_t room(uint32_t user, uint32_t category) const {
    if (users.count > 0)
      if (const uint64_t* at = line(user, category); at && uint32_t(*at) < kUnlimited) return uint32_t(*at);
    return category < categories ? uint32_t(capacity[category]) : kUnlimited;
  }
};

struct Membership {
  Lists items;                 // per item
  const uint32_t* categories;  // of each item, for everyone
  Lists users;                 // per user
  const uint64_t* personal;    // a user's item << 32 | category, by item, none of them for everyone too
  Carousels carousels;         // a category that a user does not have holds nothing for that user

  const uint32_t* begin(uint32_t item) const { return categories + items.begin(item); }
  const uint32_t* end(uint32_t item) const { return categories + items.end(item); }
  const uint64_t* personal_begin(uint32_t user) const { return personal + users.begin(user); }
  const uint64_t* personal_end(uint32_t user) const { return personal + users.end(user); }

  bool holds(uint32_t user, uint32_t item, uint32_t category) const {
    if (!carousels.open(user, category)) return false;
    for (const uint32_t* at = begin(item); at < end(item); ++at)
      if (*at == category) return true;
    bool found = false;
    each_personal(user, item, [&](uint32_t own) { found |= own == category; });
    return found;
  }

  // Calls visit(category) for every category of an item.
  template <class Visit>
  void each(uint32_t user, uint32_t item, Visit visit) const {
    for (const uint32_t* at = begin(item); at < end(item); ++at)
      if (carousels.open(user, *at)) visit(*at);
    each_personal(user, item, [&](uint32_t own) {
      if (carousels.open(user, own)) visit(own);
    });
  }

 private:
  template <class Visit>
  void each_personal(uint32_t user, uint32_t item, Visit visit) const {
    const uint64_t* last = personal_end(user);
    const uint64_t* at = std::lower_bound(personal_begin(user), last, uint64_t(item) << 32);
    for (; at < last && *at >> 32 == item; ++at) visit(uint32_t(*at));
  }
};

}  // namespace
