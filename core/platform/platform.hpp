// What differs between hosts: threads, clock, memory. One header, one .cpp per platform, chosen by
// CMake. Clients: engines, trace, session. It knows nothing of models.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/function_ref.hpp"

namespace driftscope {

/// Nanoseconds of a monotonic clock; the origin is arbitrary, and in browsers each thread's own. There
/// the resolution is that of performance.now(): 5 µs when isolated, 100 µs to 1 ms otherwise.
[[nodiscard]] std::int64_t monotonic_ns();

/// Seconds since 1970 (UTC), for the start time in a trace.
[[nodiscard]] double wall_clock_seconds();

/// Memory of this process (native: PSS, "process_pss") or of this wasm instance ("wasm_heap"). Reading the
/// PSS walks every page: in between, the last reading plus the growth of resident memory since is used.
struct MemorySample {
  std::int64_t bytes = 0;
  std::string kind;
};
[[nodiscard]] MemorySample sample_memory();

/// "linux x86_64", "wasm32": the platform of this build.
[[nodiscard]] std::string platform_name();

/// Processors this process may use (native: the affinity mask), 1 where threads are unavailable.
[[nodiscard]] int usable_processors();

/// Whether ThreadPool can have more than one thread in this build.
[[nodiscard]] bool threads_available();

/// One pointer of this thread, initially null, used by core/numerics/error_model.cpp. Here because
/// wasm objects are shared by builds with and without threads, which excludes thread_local in them.
[[nodiscard]] const void*& thread_slot();

/// A fixed set of threads, the caller among them. Work is cut into ranges, or is one range of the caller
/// where others hold the processors (sharing.hpp). No result may depend on the ranges, or on who took which.
class ThreadPool {
 public:
  /// `threads` ≥ 1; the pool has fewer where the platform gives fewer, see size().
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] int size() const;

  /// Calls body(begin, end) for disjoint ranges that cover [0, count), each of at least `grain`
  /// items except the last; returns when all have. Not reentrant. A bad_alloc of `body` is thrown on.
  void parallel_for(std::int64_t count, std::int64_t grain,
                    FunctionRef<void(std::int64_t, std::int64_t)> body);

  /// Calls body(part, step) for 0 ≤ part < parts ≤ size() and 0 ≤ step < steps; no part of a step begins
  /// before all parts of the previous one have ended. For steps of microseconds: each part stays with one
  /// thread, and threads wait by spinning rather than sleeping. Not reentrant. Throws as parallel_for.
  void parallel_steps(int parts, std::int64_t steps, FunctionRef<void(int, std::int64_t)> body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace driftscope
