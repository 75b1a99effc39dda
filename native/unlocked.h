// Python's lock, given up while a kernel computes.
#pragma once

#include <nanobind/nanobind.h>

#ifdef __GLIBCXX__
#include <cxxabi.h>
#endif

#include <chrono>
#include <thread>

namespace {

// Like nanobind::gil_scoped_release, but survives the end of Python. Up to Python 3.13 a thread that asks for the lock
// at exit is ended by unwinding its stack, and unwinding through a destructor ends the whole process with an abort.
// Such a thread sleeps here instead until the process is gone, as all do from Python 3.14 on.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  ~Unlocked() {
#ifdef __GLIBCXX__
    try {
      PyEval_RestoreThread(state_);
    } catch (const abi::__forced_unwind&) {
      for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
#else
    PyEval_RestoreThread(state_);
#endif
  }

 private:
  PyThreadState* state_;
};

}  // namespace
