// Scratch space for the ranges of a parallel_for: as many buffers as threads, made beforehand, so
// that no allocation (which could fail) happens while threads run. Clients: kernels.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "core/engines/strict/simd/aligned.hpp"

namespace driftscope {

template <class T>
class ScratchPoolOf {
 public:
  ScratchPoolOf(int threads, std::int64_t elements) {
    free_.reserve(static_cast<std::size_t>(threads));
    for (int i = 0; i < threads; ++i) free_.emplace_back(elements);
  }

  /// Holds a buffer during its lifetime; there is always one left for each thread.
  class Lease {
   public:
    explicit Lease(ScratchPoolOf& pool) : pool_(pool), buffer_(pool.take()) {}
    ~Lease() { pool_.give(std::move(buffer_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    [[nodiscard]] T* data() const { return buffer_.data(); }

   private:
    ScratchPoolOf& pool_;
    AlignedArray<T> buffer_;
  };

 private:
  AlignedArray<T> take() {
    const std::lock_guard lock(mutex_);
    AlignedArray<T> buffer = std::move(free_.back());
    free_.pop_back();
    return buffer;
  }
  void give(AlignedArray<T> buffer) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(buffer));
  }

  std::mutex mutex_;
  std::vector<AlignedArray<T>> free_;
};

using ScratchPool = ScratchPoolOf<float>;

}  // namespace driftscope
