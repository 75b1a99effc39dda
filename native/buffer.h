// A fixed block of numbers, zeroed, aligned for whole lanes, indexed by int.
//
// std::vector would do, but its functions are shared between translation units: the linker could hand a copy compiled
// for a newer instruction set to a machine that lacks it.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

namespace {

template <class T>
class Buffer {
 public:
  explicit Buffer(int n)
      : size_(n), data_(static_cast<T*>(::operator new(sizeof(T) * size_t(n) + 64, std::align_val_t(64)))) {
    std::memset(static_cast<void*>(data_), 0, sizeof(T) * size_t(n));
  }
  ~Buffer() { ::operator delete(data_, std::align_val_t(64)); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer& operator=(Buffer&& other) {
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
    return *this;
  }

  int size() const { return size_; }
  T* at(int i) { return data_ + i; }
  const T* at(int i) const { return data_ + i; }
  T& operator[](int i) { return data_[i]; }
  const T& operator[](int i) const { return data_[i]; }

 private:
  int size_;
  T* data_;
};

}  // namespace
