// Scratch space for the ranges of a parallel_for: as many buffers as threads, made beforehand, so
// that nothing is allocated (and can fail) while threads run. Clients: kernels.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "core/engines/strict/simd/aligned.hpp"

namespace driftscope {

class ScratchPool {
 public:
  ScratchPool(int threads, std::int64_t floats) {
    free_.reserve(static_cast<std::size_t>(threads));
    for (int i = 0; i < threads; ++i) free_.emplace_back(floats);
  }

  /// A buffer for as long as it lives; there is always one left for each thread.
  class Lease {
   public:
    explicit Lease(ScratchPool& pool) : pool_(pool), buffer_(pool.take()) {}
    ~Lease() { pool_.give(std::move(buffer_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    [[nodiscard]] float* data() const { return buffer_.data(); }

   private:
    ScratchPool& pool_;
    AlignedFloats buffer_;
  };

 private:
  AlignedFloats take() {
    const std::lock_guard lock(mutex_);
    AlignedFloats buffer = std::move(free_.back());
    free_.pop_back();
    return buffer;
  }
  void give(AlignedFloats buffer) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(buffer));
  }

  std::mutex mutex_;
  std::vector<AlignedFloats> free_;
};

}  // namespace driftscope
