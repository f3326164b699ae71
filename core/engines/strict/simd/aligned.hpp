// An array on a cache line's boundary, not initialised: packed matrices and scratch space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>

namespace driftscope {

/// T: float or an integer.
template <class T>
class AlignedArray {
 public:
  AlignedArray() = default;
  /// Throws std::bad_alloc.
  explicit AlignedArray(std::int64_t size)
      : data_(static_cast<T*>(::operator new(bytes(size), alignment))), size_(size) {}

  [[nodiscard]] T* data() const { return data_.get(); }
  [[nodiscard]] std::int64_t size() const { return size_; }

 private:
  static constexpr std::align_val_t alignment{64};
  static std::size_t bytes(std::int64_t size) {
    constexpr auto limit = std::numeric_limits<std::ptrdiff_t>::max();
    if (size < 0 || size > static_cast<std::int64_t>(limit / sizeof(T))) throw std::bad_alloc();
    return static_cast<std::size_t>(size) * sizeof(T);
  }
  struct Delete {
    void operator()(T* p) const { ::operator delete(p, alignment); }
  };
  std::unique_ptr<T, Delete> data_;
  std::int64_t size_ = 0;
};

using AlignedFloats = AlignedArray<float>;

}  // namespace driftscope
