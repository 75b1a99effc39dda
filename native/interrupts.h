// Signals such as Ctrl-C, noticed in the middle of long work.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>

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

}  // namespace
