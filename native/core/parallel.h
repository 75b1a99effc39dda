// Work on several threads, without the GIL; signals are noticed all the same.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "core/interpreter.h"
#include "core/work_queue.h"

namespace {

// Hands out [0, count) to all threads that ask, in order, until one of them fails. The thread that made it, which came
// from Python, fails when a signal handler raises.
class SharedQueue : public WorkQueue {
 public:
  struct Stopped {};  // thrown to end a thread after another one has failed

  SharedQueue(int64_t count, int64_t size) : count_(count), size_(size) {}
  bool next(int64_t& begin, int64_t& end) override {
    check_stop();
    begin = size_ * next_++;
    end = std::min(count_, begin + size_);
    return begin < count_;
  }
  void check_stop() override {
    if (stopped_.load(std::memory_order_relaxed)) throw Stopped();
    if (std::this_thread::get_id() == caller_) interrupts_.poll();
  }
  void stop() { stopped_ = true; }

 private:
  const std::thread::id caller_ = std::this_thread::get_id();
  Interrupts interrupts_;  // the caller's
  std::atomic<bool> stopped_{false};
  const int64_t count_, size_;
  std::atomic<int64_t> next_{0};
};

constexpr int kMostThreads = 1024;

// Runs work(pieces) on up to `threads` threads, `piece` of [0, count) at a time. Every element is computed alone, so
// neither pieces nor threads change a result. Returns the smallest answer of the threads, if work gives any.
template <class Work>
int64_t parallel_for(int64_t count, int64_t piece, int threads, const Work& work) {
  const Unlocked unlocked;
  SharedQueue queue(count, piece);
  std::atomic<int64_t> smallest{INT64_MAX};
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
  const auto guarded = [&](const auto& step) {
    try {
      step();
    } catch (const SharedQueue::Stopped&) {
      // what failed is kept already, or about to be
    } catch (...) {
      if (!failed.exchange(true)) failure = std::current_exception();
      queue.stop();
    }
  };
  const auto run = [&] {
    guarded([&] {
      int64_t answer = kNoAnswer;
      if constexpr (std::is_void_v<decltype(work(queue))>) work(queue);
      else answer = work(queue);
      for (int64_t least = smallest; answer != kNoAnswer && answer < least;)
        if (smallest.compare_exchange_weak(least, answer)) break;
    });
  };
  std::mutex mutex;
  std::condition_variable ended;
  size_t running = 0;
  const auto help = [&] {
    run();
    const std::lock_guard<std::mutex> lock(mutex);
    if (--running == 0) ended.notify_one();
  };
  std::vector<std::thread> helpers;
  const int64_t wanted = std::min<int64_t>(std::min(threads, kMostThreads), (count + piece - 1) / piece) - 1;
  if (wanted > 0) helpers.reserve(size_t(wanted));
  {
    const std::lock_guard<std::mutex> lock(mutex);
    try {
      for (int64_t t = 0; t < wanted; ++t) helpers.emplace_back(help);
    } catch (const std::exception&) {
      // no more threads, or no memory for them: those that started, and this one, do the work
    }
    running = helpers.size();
  }
  run();
  for (std::unique_lock<std::mutex> lock(mutex);
       !ended.wait_for(lock, Interrupts::kEvery, [&] { return running == 0; });) {
    lock.unlock();
    guarded([&] { queue.check_stop(); });
    lock.lock();
  }
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
  return smallest == INT64_MAX ? kNoAnswer : smallest.load();
}

}  // namespace
