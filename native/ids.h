// Dense codes 0, 1, 2, ... for ids, in order of first appearance. Exact: hashes only say where to look.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "code_map.h"
#include "parallel.h"

namespace {

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

  // Codes for n ids; `firsts` receives where each new one first stood. Known ids are looked up on all threads, new ones
  // get their codes one after the other.
  void add(const Id* ids, int64_t n, uint32_t* codes, std::vector<int64_t>& firsts, int threads) {
    const bool lookup = size() > 0;
    if (lookup && find_all(ids, n, codes, threads)) return;
    for (int64_t at = 0; at < n; ++at) {
      if (lookup && codes[at] != kNone) continue;
      if (at > 0 && ids[at] == ids[at - 1]) {
        codes[at] = codes[at - 1];
        continue;
      }
      const uint64_t hash = hash_of(ids[at]);
      codes[at] = find(ids[at], hash);
      if (codes[at] != kNone) continue;
      firsts.push_back(at);
      codes[at] = insert(ids[at], hash);
    }
  }

 private:
  // Whether all ids are known; those that are not get kNone.
  bool find_all(const Id* ids, int64_t n, uint32_t* codes, int threads) const {
    std::atomic<bool> all{true};
    parallel_for(n, 1 << 16, threads, [&](Pieces& pieces) {
      for (int64_t at, end; pieces.next(at, end);)
        for (const int64_t first = at; at < end; ++at) {
          codes[at] = at > first && ids[at] == ids[at - 1] ? codes[at - 1] : find(ids[at], hash_of(ids[at]));
          if (codes[at] == kNone) all = false;
        }
    });
    return all;
  }

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

}  // namespace
