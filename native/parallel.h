// Work on several threads, without the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "pieces.h"

namespace {

// Hands out [0, count) to all threads that ask, in order.
class SharedPieces : public Pieces {
 public:
  SharedPieces(int64_t count, int64_t size) : count_(count), size_(size) {}
  bool next(int64_t& begin, int64_t& end) override {
    begin = size_ * next_++;
    end = std::min(count_, begin + size_);
    return begin < count_;
  }

 private:
  const int64_t count_, size_;
  std::atomic<int64_t> next_{0};
};

// Runs work(pieces) on up to `threads` threads, `piece` of [0, count) at a time. Every element is computed alone, so
// neither pieces nor threads change a result. Returns the smallest answer of the threads, if work gives any.
template <class Work>
int64_t parallel_for(int64_t count, int64_t piece, int threads, const Work& work) {
  nanobind::gil_scoped_release unlocked;
  SharedPieces pieces(count, piece);
  std::atomic<int64_t> smallest{INT64_MAX};
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
  const auto run = [&] {
    try {
      int64_t answer = kNoAnswer;
      if constexpr (std::is_void_v<decltype(work(pieces))>) work(pieces);
      else answer = work(pieces);
      for (int64_t least = smallest; answer != kNoAnswer && answer < least;)
        if (smallest.compare_exchange_weak(least, answer)) break;
    } catch (...) {
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  };
  std::vector<std::thread> helpers;
  const int64_t wanted = std::min<int64_t>(threads, (count + piece - 1) / piece) - 1;
  try {
    for (int64_t t = 0; t < wanted; ++t) helpers.emplace_back(run);
  } catch (const std::system_error&) {
    // the machine allows no more threads: those that started, and this one, do the work
  }
  run();
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
  return smallest == INT64_MAX ? kNoAnswer : smallest.load();
}

}  // namespace
