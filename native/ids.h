// Dense codes 0, 1, 2, ... for ids, in order of first appearance. Exact: hashes only say where to look.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "parallel.h"

namespace {

constexpr uint32_t kNone = UINT32_MAX;

inline uint64_t mixed(uint64_t x) {  // spreads every bit over all others
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  return x ^ (x >> 32);
}

inline uint64_t hash_of(int64_t id) { return mixed(uint64_t(id)); }
inline uint64_t hash_of(std::string_view id) {
  uint64_t hash = id.size();
  size_t at = 0;
  for (uint64_t part; at + 8 <= id.size(); at += 8) {
    std::memcpy(&part, id.data() + at, 8);
    hash = (hash ^ part) * 0x9fb21c651e98df25u;
    hash ^= hash >> 29;
  }
  uint64_t rest = 0;
  std::memcpy(&rest, id.data() + at, id.size() - at);
  return mixed(hash ^ rest);
}

// Texts outlive the column they came from in blocks of their own.
class TextStore {
 public:
  std::string_view keep(std::string_view text) {
    if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < text.size()) {
      blocks_.emplace_back();
      blocks_.back().reserve(text.size() > kBlock ? text.size() : kBlock);
    }
    std::string& block = blocks_.back();
    block.append(text);
    return {block.data() + block.size() - text.size(), text.size()};
  }
  int64_t keep(int64_t id) { return id; }

 private:
  static constexpr size_t kBlock = 1 << 20;
  std::deque<std::string> blocks_;
};

template <class Id>
class Codes {
 public:
  Codes() : slots_(1 << 10, kNone) {}
  size_t size() const { return ids_.size(); }

  // Codes for n ids; `fresh` receives where each new one first stood. Ids known before are looked up on all threads.
  void add(const Id* ids, int64_t n, uint32_t* codes, std::vector<int64_t>& fresh, int threads) {
    const bool known_before = size() > 0;
    std::atomic<bool> all{true};
    in_parallel(n, 1 << 16, threads, [&](Pieces& pieces) {
      for (int64_t at, end; pieces.next(at, end);) {
        if (!known_before) {
          all = false;
          break;
        }
        for (int64_t first = at; at < end; ++at) {
          codes[at] = at > first && ids[at] == ids[at - 1] ? codes[at - 1] : find(ids[at], hash_of(ids[at]));
          if (codes[at] == kNone) all = false;
        }
      }
      return int64_t(-1);
    });
    if (all) return;
    for (int64_t at = 0; at < n; ++at) {
      if (known_before && codes[at] != kNone) continue;
      if (at > 0 && ids[at] == ids[at - 1]) {
        codes[at] = codes[at - 1];
        continue;
      }
      const uint64_t hash = hash_of(ids[at]);
      codes[at] = find(ids[at], hash);
      if (codes[at] != kNone) continue;
      fresh.push_back(at);
      codes[at] = insert(ids[at], hash);
    }
  }

 private:
  uint32_t find(Id id, uint64_t hash) const {
    const size_t mask = slots_.size() - 1;
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
      const uint32_t code = slots_[at];
      if (code == kNone || (hashes_[code] == uint32_t(hash >> 32) && ids_[code] == id)) return code;
    }
  }

  uint32_t insert(Id id, uint64_t hash) {
    if (size() >= kNone - 1) throw std::length_error("more than 4,294,967,294 different ids");
    if (2 * (size() + 1) > slots_.size()) grow();
    const uint32_t code = uint32_t(size());
    ids_.push_back(store_.keep(id));
    hashes_.push_back(uint32_t(hash >> 32));
    place(code, hash);
    return code;
  }

  void grow() {
    slots_.assign(slots_.size() * 4, kNone);
    for (uint32_t code = 0; code < ids_.size(); ++code) place(code, hash_of(ids_[code]));
  }

  void place(uint32_t code, uint64_t hash) {
    const size_t mask = slots_.size() - 1;
    size_t at = hash & mask;
    while (slots_[at] != kNone) at = (at + 1) & mask;
    slots_[at] = code;
  }

  std::vector<uint32_t> slots_;
  std::vector<uint32_t> hashes_;  // their upper halves, to spare most comparisons
  std::vector<Id> ids_;
  TextStore store_;
};

// A small table from u32 to u32 that is filled anew for every page; forgetting costs nothing.
class Scratch {
 public:
  void start(size_t most) {
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

  // The value of a key; set to `fresh` where the key is new.
  uint32_t& at(uint32_t key, uint32_t fresh) {
    Slot& slot = slot_of(key);
    if (slot.stamp != stamp_) slot = {key, fresh, stamp_};
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
    size_t at = (key * 0x9e3779b97f4a7c15u >> 32) & mask;
    while (slots_[at].stamp == stamp_ && slots_[at].key != key) at = (at + 1) & mask;
    return slots_[at];
  }

  std::vector<Slot> slots_;
  uint32_t stamp_ = 0;
};

}  // namespace
