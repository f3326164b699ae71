// How much memory and time a run may take. Clients: the command line, the window; what starts pages.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace driftscope {

/// What the machine, and the control groups that this runs in, can still give, bytes; 0: unknown.
[[nodiscard]] std::int64_t available_memory();

/// From here on, tensors take at most `bytes` together (limit_alive_tensors), and all memory of this process
/// a gigabyte more, for threads and libraries (RLIMIT_DATA); what asks for more is refused, as when memory
/// runs out. Processes that are started later have no such limit.
void limit_memory(std::int64_t bytes);

/// The same, as a person asked: asked_memory() then says so to whoever starts something that has a limit of
/// its own (a page). 0: nobody asked.
void limit_memory_as_asked(std::int64_t bytes);
[[nodiscard]] std::int64_t asked_memory();

/// Calls `end` on a thread of its own when the time is over, unless it is destroyed before.
class TimeLimit {
 public:
  TimeLimit(std::chrono::milliseconds time, std::function<void()> end);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace driftscope
