// Which categories an item belongs to: for everyone, and for single users besides.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lists.h"

namespace {

struct Membership {
  Lists items;                 // per item
  const uint32_t* categories;  // of each item, for everyone
  Lists users;                 // per user
  const uint64_t* personal;    // a user's item << 32 | category, sorted, none of them for everyone too

  const uint32_t* begin(uint32_t item) const { return categories + items.begin(item); }
  const uint32_t* end(uint32_t item) const { return categories + items.end(item); }
  const uint64_t* personal_begin(uint32_t user) const { return personal + users.begin(user); }
  const uint64_t* personal_end(uint32_t user) const { return personal + users.end(user); }

  bool holds(uint32_t user, uint32_t item, uint32_t category) const {
    for (const uint32_t* at = begin(item); at < end(item); ++at)
      if (*at == category) return true;
    return std::binary_search(personal_begin(user), personal_end(user), uint64_t(item) << 32 | category);
  }

  // Calls visit(category) for every category of an item.
  template <class Visit>
  void each(uint32_t user, uint32_t item, Visit visit) const {
    for (const uint32_t* at = begin(item); at < end(item); ++at) visit(*at);
    const uint64_t* last = personal_end(user);
    const uint64_t* at = std::lower_bound(personal_begin(user), last, uint64_t(item) << 32);
    for (; at < last && *at >> 32 == item; ++at) visit(uint32_t(*at));
  }
};

}  // namespace
