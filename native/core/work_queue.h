// Work that several threads share, piece by piece.
#pragma once

#include <cstdint>
#include <type_traits>

// Hands out pieces [begin, end) of the work, so that a thread sets up once for all the pieces it does.
struct WorkQueue {
  virtual bool next(int64_t& begin, int64_t& end) = 0;
  // Throws where the call is to end early, as by Ctrl-C; for work that may take long within a piece.
  virtual void check_stop() = 0;

 protected:
  ~WorkQueue() = default;
};

namespace {

constexpr int64_t kNoAnswer = -1;
constexpr int kCheckEvery = 16;  // short steps, between two calls of check_stop

// Calls visit(i) for every i of this thread's pieces, up to the first that gives an answer.
template <class Visit>
inline int64_t for_each(WorkQueue& queue, const Visit& visit) {
  for (int64_t i, end; queue.next(i, end);)
    for (; i < end; ++i)
      if constexpr (std::is_void_v<decltype(visit(i))>) visit(i);
      else if (const int64_t answer = visit(i); answer != kNoAnswer) return answer;
  return kNoAnswer;
}

}  // namespace
