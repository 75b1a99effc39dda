// Arrays between Python and C++: how they come in, what is checked of them, and how results go out without a copy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>

#include "core/offsets.h"

namespace {

namespace nb = nanobind;

// An array that comes in: contiguous and aligned, or a copy that is.
template <class... Traits>
struct Aligned : nb::ndarray<Traits..., nb::c_contig, nb::device::cpu> {
  using Array = nb::ndarray<Traits..., nb::c_contig, nb::device::cpu>;
  using Array::Array;
  Aligned(const Array& array) : Array(array) {}
};
template <class T, int N>
using In = Aligned<const T, nb::ndim<N>>;
template <class T>
using Out = nb::ndarray<nb::numpy, T>;

// An array to be filled. Unlike std::vector it is not zeroed, so that each thread is the first to touch its own share.
template <class T>
class Uninitialized {
 public:
  explicit Uninitialized(size_t count) : data_(new T[count]) {}
  T* data() const { return data_.get(); }

 private:
  std::unique_ptr<T[]> data_;
};

// Hands an array (Uninitialized or std::vector) over to NumPy.
template <class Array>
auto to_numpy(Array array, std::initializer_list<size_t> shape) {
  using T = std::remove_pointer_t<decltype(array.data())>;
  auto owner = std::make_unique<Array>(std::move(array));
  T* data = owner->data();
  nb::capsule capsule(owner.get(), [](void* kept) noexcept { std::unique_ptr<Array>(static_cast<Array*>(kept)); });
  owner.release();  // by now the capsule's
  return Out<T>(data, shape, capsule);
}
template <class Array>
auto to_numpy(Array array) {
  const size_t size = array.size();
  return to_numpy(std::move(array), {size});
}

constexpr size_t kMostCells = 100'000'000;  // of a page, a table of weights or the items of a set

inline void require(bool holds, const char* what) {
  if (!holds) throw nb::value_error(what);
}

// The lists that offsets cut all of `size` values into.
inline Offsets checked_offsets(const In<int64_t, 1>& offsets, size_t size, const char* name) {
  const int64_t *offset = offsets.data(), *end = offset + offsets.shape(0);
  bool rise = offset < end && *offset == 0;
  for (; rise && offset + 1 < end; ++offset) rise = offset[0] <= offset[1];
  if (!rise || uint64_t(*offset) != size)
    throw nb::value_error((std::string(name) + " must rise from 0 to the number of values").c_str());
  return {offsets.data(), int64_t(offsets.shape(0)) - 1};
}

// Records of 32-bit numbers, one a row.
template <class Record>
const Record* records_of(const In<uint32_t, 2>& numbers) {
  require(numbers.shape(1) * sizeof(uint32_t) == sizeof(Record), Record::kNumbers);
  return reinterpret_cast<const Record*>(numbers.data());
}

// What tables of weights are sorted and added up as: NaN has no place in an order.
inline void require_weights(const In<double, 2>& weights) {
  require(weights.shape(0) > 0 && weights.shape(1) > 0 && weights.size() <= kMostCells,
          "weights must have 1 to 100,000,000 cells");
  for (size_t c = 0; c < weights.size(); ++c)
    require(weights.data()[c] >= 0 && std::isfinite(weights.data()[c]), "weights must be finite and 0 or more");
}

}  // namespace

namespace nanobind::detail {

template <class... Traits>
struct type_caster<Aligned<Traits...>> {
  using Array = typename Aligned<Traits...>::Array;
  NB_TYPE_CASTER(Aligned<Traits...>, make_caster<Array>::Name)

  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    make_caster<Array> caster;
    if (source.is_none()) return false;  // inside a tuple, nanobind would take it for an array without a type
    if (!caster.from_python(source, flags, cleanup)) return false;
    if (reinterpret_cast<uintptr_t>(caster.value.data()) % (caster.value.dtype().bits / 8) == 0) {
      value = caster.value;
      return true;
    }
    try {
      const object copy = source.attr("copy")();
      make_caster<Array> of_copy;
      if (!of_copy.from_python(copy, flags, cleanup)) return false;
      value = of_copy.value;
      return true;
    } catch (const std::exception&) {
      PyErr_Clear();
      return false;
    }
  }
};

}  // namespace nanobind::detail
