#include "core/platform/platform.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>

#include "core/platform/thread_time.hpp"

namespace driftscope {
namespace {

// To compute the PSS the kernel walks every page: milliseconds for a large model, of the time that is being
// measured. At most 1/50 of the time is spent so; in between, the growth of the resident memory is added,
// which the kernel counts anyway.
class PssReader {
 public:
  std::optional<std::int64_t> read() {
    const std::lock_guard lock(mutex_);
    const std::int64_t begin = monotonic_ns();
    const std::int64_t resident = resident_bytes();
    if (pss_ > 0 && resident > 0 && begin < next_ns_)
      return std::max<std::int64_t>(pss_ + resident - resident_, 0);
    const auto pss = proportional_bytes();
    if (!pss) return std::nullopt;
    pss_ = *pss;
    resident_ = resident;
    const std::int64_t end = monotonic_ns();
    next_ns_ = end + 50 * (end - begin);
    return pss_;
  }

 private:
  static std::int64_t resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    std::int64_t size = 0;
    std::int64_t resident = 0;
    statm >> size >> resident;
    return resident * sysconf(_SC_PAGESIZE);
  }

  static std::optional<std::int64_t> proportional_bytes() {
    std::ifstream rollup("/proc/self/smaps_rollup");
    for (std::string line; std::getline(rollup, line);) {
      if (line.rfind("Pss:", 0) != 0) continue;
      std::istringstream fields(line.substr(4));
      std::int64_t kilobytes = 0;
      fields >> kilobytes;
      return kilobytes * 1024;
    }
    return std::nullopt;
  }

  std::mutex mutex_;
  std::int64_t pss_ = 0;
  std::int64_t resident_ = 0;  // at the same time
  std::int64_t next_ns_ = 0;
};

}  // namespace

std::int64_t monotonic_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::optional<std::int64_t> thread_processor_ns() {
  timespec time{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return std::nullopt;
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

double wall_clock_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

MemorySample sample_memory() {
  static PssReader reader;
  const auto bytes = reader.read();
  if (!bytes) return {0, "unknown"};
  return {*bytes, "process_pss"};
}

std::string platform_name() {
  utsname name{};
  if (uname(&name) != 0) return "unknown";
  std::string system = name.sysname;
  for (char& c : system)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return system + " " + name.machine;
}

int usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  const int count = CPU_COUNT(&set);
  return count > 0 ? count : 1;
}

}  // namespace driftscope
