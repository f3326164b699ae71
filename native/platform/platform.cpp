#include "core/platform/platform.hpp"

#include <sched.h>
#include <sys/utsname.h>

#include <chrono>
#include <fstream>
#include <sstream>

namespace driftscope {

std::int64_t monotonic_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double wall_clock_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

MemorySample sample_memory() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  for (std::string line; std::getline(rollup, line);) {
    if (line.rfind("Pss:", 0) != 0) continue;
    std::istringstream fields(line.substr(4));
    std::int64_t kilobytes = 0;
    fields >> kilobytes;
    return {kilobytes * 1024, "process_pss"};
  }
  return {0, "unknown"};
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
