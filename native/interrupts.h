// Signals such as Ctrl-C, noticed in the middle of long work.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>

namespace {

class Interrupts {
 public:
  static constexpr std::chrono::milliseconds kEvery{50};

  // Lets Python handle signals, if it is some time since it could, and throws what their handlers raise. With or
  // without the GIL; Python handles signals on its main thread only.
  void poll() {
    if (std::chrono::steady_clock::now() < next_) return;
    nanobind::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    next_ = std::chrono::steady_clock::now() + kEvery;
  }

 private:
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + kEvery;
};

}  // namespace
