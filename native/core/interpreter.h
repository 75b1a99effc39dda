// What long work owes Python: its lock is given up, and signals such as Ctrl-C are noticed all the same.
#pragma once

#include <nanobind/nanobind.h>

#ifdef __GLIBCXX__
#include <cxxabi.h>
#endif

#include <chrono>
#include <thread>

// The only thread on which Python handles signals; set when the module is imported.
inline unsigned long main_thread = 0;

namespace {

class Interrupts {
 public:
  static constexpr std::chrono::milliseconds kEvery{50};

  // Lets Python handle signals, if it is some time since it could, and throws what their handlers raise. With or
  // without the GIL. Other threads than the main one never ask for it: at exit Python would end them on the spot.
  void poll() {
    if (std::chrono::steady_clock::now() < next_ || PyThread_get_thread_ident() != main_thread) return;
    nanobind::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    next_ = std::chrono::steady_clock::now() + kEvery;
  }

 private:
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + kEvery;
};

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
