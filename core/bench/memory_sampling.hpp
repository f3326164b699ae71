// How memory is watched from run to run: how many runs before the next samples, and when enough is known.
// Clients: native/bench (processes), the session service (the heap of a page). It reads no memory itself.
#pragma once

#include <cstdint>
#include <string>

#include "core/bench/memory_growth.hpp"

namespace driftscope {

struct MemoryLimits {
  std::int64_t runs = 200;      ///< at most
  double seconds = 120.0;       ///< at most, of running
  std::int64_t max_growth = 0;  ///< bytes beyond those after the first runs; 0: no limit
};

class MemorySampling {
 public:
  explicit MemorySampling(MemoryLimits limits) : limits_(limits) {}

  /// Runs until the next samples are due.
  [[nodiscard]] std::int64_t next_runs() const;
  /// So many have happened. What is sampled then follows with add().
  void ran(std::int64_t runs);
  /// What was read after the runs so far; readings of 0 bytes are ignored.
  void add(const std::string& kind, std::int64_t bytes, bool exact);
  /// Whether no more runs are needed; `seconds` since the first one began. Then memory() is complete.
  [[nodiscard]] bool finished(double seconds);

  [[nodiscard]] std::int64_t runs() const { return memory_.runs; }
  [[nodiscard]] const MemoryLimits& limits() const { return limits_; }
  [[nodiscard]] const MemoryOverRuns& memory() const { return memory_; }

 private:
  [[nodiscard]] double growth() const;

  MemoryLimits limits_;
  MemoryOverRuns memory_;
  std::size_t times_sampled_ = 0;
};

}  // namespace driftscope
