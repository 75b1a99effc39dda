// A fixed block of values, zeroed (pointers: null), aligned for whole lanes.
//
// std::vector would do, but its functions are shared between translation units: the linker could hand a copy compiled
// for a newer instruction set to a machine that lacks it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace {

template <class T>
class Buffer {
 public:
  explicit Buffer(int64_t n) : size_(n) {
    if (n == 0) return;
    allocate(sizeof(T) * size_t(n));
    if constexpr (std::is_trivially_default_constructible_v<T>)
      std::memset(static_cast<void*>(data_), 0, sizeof(T) * size_t(n));
    else
      for (int64_t i = 0; i < n; ++i) ::new (static_cast<void*>(data_ + i)) T();
  }
  ~Buffer() {
    if constexpr (!std::is_trivially_destructible_v<T>)
      for (int64_t i = 0; i < size_; ++i) data_[i].~T();
    release();
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer& operator=(Buffer&& other) {
    std::swap(size_, other.size_);
    std::swap(block_, other.block_);
    std::swap(data_, other.data_);
    return *this;
  }

  // For buffers that are filled anew each time: what they held is lost when they grow.
  void reserve(int64_t n) {
    if (size_ < n) *this = Buffer(n);
  }

  // For buffers that grow as they are filled: keeps what they hold.
  void extend(int64_t n) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (n <= size_) return;
    Buffer larger(n > 2 * size_ ? n : 2 * size_);
    if (size_ > 0) std::memcpy(static_cast<void*>(larger.data_), data_, sizeof(T) * size_t(size_));
    *this = static_cast<Buffer&&>(larger);
  }

  int64_t size() const { return size_; }
  T* at(int64_t i) { return data_ + i; }
  const T* at(int64_t i) const { return data_ + i; }
  T& operator[](int64_t i) { return data_[i]; }
  const T& operator[](int64_t i) const { return data_[i]; }

 private:
  static constexpr size_t kAlignment = 64;
  static_assert(alignof(T) <= kAlignment);

#ifdef CAROUSEVAL_SANITIZE  // nothing before the values: the sanitizer watches both ends
  void allocate(size_t bytes) {
    block_ = ::operator new(bytes + kAlignment, std::align_val_t(kAlignment));
    data_ = static_cast<T*>(block_);
  }
  void release() { ::operator delete(block_, std::align_val_t(kAlignment)); }
#else  // aligned by hand: what the library aligns it takes from no cache, at half the cost of a page scored alone
  void allocate(size_t bytes) {
    block_ = ::operator new(bytes + 2 * kAlignment);
    data_ = reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(block_) + kAlignment - 1) / kAlignment * kAlignment);
  }
  void release() { ::operator delete(block_); }
#endif

  int64_t size_;
  void* block_ = nullptr;
  T* data_ = nullptr;  // in the block
};

}  // namespace
