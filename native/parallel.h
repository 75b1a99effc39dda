// What the doors into Python share: arrays in and out, and work on several threads without the GIL.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "kernels.h"

namespace {

namespace nb = nanobind;

template <class T, int N>
using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T>;

template <class T>
T* fresh(size_t count, nb::capsule& owner) {
  T* data = new T[count];
  owner = nb::capsule(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return data;
}

// Runs work(pieces) on up to `threads` threads, without the GIL; `pieces` hands out [0, count) bit by bit. Every page is
// computed alone, so neither pieces nor threads change a result. Returns the smallest answer that is not -1.
template <class Work>
int64_t in_parallel(int64_t count, int64_t piece, int threads, const Work& work) {
  struct Shared : Pieces {
    Shared(int64_t count, int64_t piece) : count(count), piece(piece) {}
    bool next(int64_t& begin, int64_t& end) override {
      begin = piece * at++;
      end = std::min(count, begin + piece);
      return begin < count;
    }
    const int64_t count, piece;
    std::atomic<int64_t> at{0};
  };
  nb::gil_scoped_release unlocked;
  Shared pieces(count, piece);
  std::atomic<int64_t> bad{INT64_MAX};
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
  const auto run = [&] {
    try {
      const int64_t answer = work(pieces);
      for (int64_t seen = bad; answer >= 0 && answer < seen && !bad.compare_exchange_weak(seen, answer);) {}
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
  return bad == INT64_MAX ? -1 : bad.load();
}

}  // namespace
