// Dense codes 0, 1, 2, ... for ids, in order of first appearance. Exact: hashes only say where to look.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/interpreter.h"
#include "core/parallel.h"
#include "tables/code_map.h"
#include "tables/keyed_hash.h"

namespace {

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
  // get their codes one after the other. A call that fails, as by a signal, adds nothing.
  void add(const Id* ids, int64_t n, uint32_t* codes, std::vector<int64_t>& firsts, int threads) {
    const size_t before = size();
    if (before > 0 && find_all(ids, n, codes, threads)) return;
    try {
      add_new(ids, n, codes, before > 0, firsts);
    } catch (...) {
      forget_from(before);
      throw;
    }
  }

 private:
  static constexpr int64_t kStep = 64;  // ids, between two looks at signals; each may be long

  // Whether all ids are known; those that are not get kNone.
  bool find_all(const Id* ids, int64_t n, uint32_t* codes, int threads) const {
    std::atomic<bool> all{true};
    parallel_for(n, 1 << 16, threads, [&](WorkQueue& queue) {
      for (int64_t i, end; queue.next(i, end);)
        for (const int64_t first = i; i < end; ++i) {
          if (i % kStep == 0) queue.check_stop();
          codes[i] = i > first && ids[i] == ids[i - 1] ? codes[i - 1] : find(ids[i], hash_(ids[i]));
          if (codes[i] == kNone) all = false;
        }
    });
    return all;
  }

  void add_new(const Id* ids, int64_t n, uint32_t* codes, bool looked_up, std::vector<int64_t>& firsts) {
    for (int64_t i = 0; i < n; ++i) {
      if (i % kStep == 0) interrupts_.poll();
      if (looked_up && codes[i] != kNone) continue;
      if (i > 0 && ids[i] == ids[i - 1]) {
        codes[i] = codes[i - 1];
        continue;
      }
      const uint64_t hash = hash_(ids[i]);
      codes[i] = find(ids[i], hash);
      if (codes[i] != kNone) continue;
      firsts.push_back(i);
      codes[i] = insert(ids[i], hash);
    }
  }

  uint32_t find(Id id, uint64_t hash) const {
    const size_t mask = slots_.size() - 1;
    for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
      const uint32_t code = slots_[slot];
      if (code == kNone || (hashes_[code] == uint32_t(hash >> 32) && ids_[code] == id)) return code;
    }
  }

  uint32_t insert(Id id, uint64_t hash) {
    if (size() >= kNone - 1) throw std::length_error("more than 4,294,967,294 different ids");
    if (2 * (size() + 1) > slots_.size()) grow();
    const uint32_t code = uint32_t(size());
    ids_.push_back(store_.keep(id));
    hashes_.push_back(uint32_t(hash >> 32));
    place(code, hash, slots_);
    return code;
  }

  void grow() {
    std::vector<uint32_t> slots(slots_.size() * 4, kNone);
    for (uint32_t code = 0; code < ids_.size(); ++code) {
      if (code % kStep == 0) interrupts_.poll();
      place(code, hash_(ids_[code]), slots);
    }
    slots_.swap(slots);
  }

  static void place(uint32_t code, uint64_t hash, std::vector<uint32_t>& slots) {
    const size_t mask = slots.size() - 1;
    size_t slot = hash & mask;
    while (slots[slot] != kNone) slot = (slot + 1) & mask;
    slots[slot] = code;
  }

  // The way to a code leads past smaller ones only, so that larger ones can go.
  void forget_from(size_t code) {
    for (uint32_t& slot : slots_)
      if (slot >= code) slot = kNone;
    ids_.resize(code);
    hashes_.resize(code);
  }

  const KeyedHash hash_ = KeyedHash::of_process();
  Interrupts interrupts_;
  std::vector<uint32_t> slots_;
  std::vector<uint32_t> hashes_;  // their upper halves, to spare most comparisons
  std::vector<Id> ids_;
  TextStore store_;
};

}  // namespace
