// Codes, the small numbers that stand for ids, and a table by code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tables/keyed_hash.h"

namespace {

constexpr uint32_t kNone = UINT32_MAX;    // no code
constexpr uint32_t kSeveral = kNone - 1;  // users, not one

// Values by code, filled anew for every page: starting over costs nothing, since entries carry the number of the page.
class CodeMap {
 public:
  void clear(size_t most) {
    if (slots_.size() < 2 * most + 2) {
      size_t size = 64;
      while (size < 2 * most + 2) size *= 2;
      slots_.assign(size, Slot{});
      stamp_ = 0;
    }
    if (++stamp_ == 0) {
      slots_.assign(slots_.size(), Slot{});
      stamp_ = 1;
    }
  }

  // The value of a key; set to `initial` where the key is new.
  uint32_t& at(uint32_t key, uint32_t initial) {
    Slot& slot = slot_of(key);
    if (slot.stamp != stamp_) slot = {key, initial, stamp_};
    return slot.value;
  }
  uint32_t get(uint32_t key) {
    const Slot& slot = slot_of(key);
    return slot.stamp == stamp_ ? slot.value : kNone;
  }

 private:
  struct Slot {
    uint32_t key = 0, value = 0, stamp = 0;
  };
  Slot& slot_of(uint32_t key) {
    const size_t mask = slots_.size() - 1;
    size_t index = hash_(key) & mask;
    while (slots_[index].stamp == stamp_ && slots_[index].key != key) index = (index + 1) & mask;
    return slots_[index];
  }

  const KeyedHash hash_ = KeyedHash::of_process();
  std::vector<Slot> slots_;
  uint32_t stamp_ = 0;
};

}  // namespace
