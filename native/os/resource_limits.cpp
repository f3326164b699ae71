#include "native/os/resource_limits.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "core/model/alive_tensors.hpp"
#include "native/os/memory_group.hpp"

namespace driftscope {
namespace {

std::int64_t free_in_machine() {
  std::ifstream file("/proc/meminfo");
  for (std::string name, unit; file >> name;) {
    std::int64_t kilobytes = 0;
    file >> kilobytes;
    std::getline(file, unit);
    if (name == "MemAvailable:") return kilobytes * 1024;
  }
  return 0;
}

std::int64_t free_in_groups() {
  std::ifstream file("/proc/self/cgroup");
  const std::string own(std::istreambuf_iterator<char>(file), {});
  return free_in_memory_groups("/sys/fs/cgroup", own);
}

// What counts against RLIMIT_DATA already: with AddressSanitizer terabytes, which are only reserved.
std::int64_t data_in_use() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmData:")) return std::strtoll(line.c_str() + 7, nullptr, 10) * 1024;
  return 0;
}

std::atomic<std::int64_t> asked_bytes = 0;

}  // namespace

std::int64_t available_memory() {
  const std::int64_t machine = free_in_machine();
  const std::int64_t group = free_in_groups();
  if (group == 0) return machine;
  return machine == 0 ? group : std::min(machine, group);
}

void limit_memory(std::int64_t bytes) {
  const std::int64_t beside = data_in_use() + (std::int64_t{1} << 30);
  limit_alive_tensors(bytes, "--max-memory");
  rlimit data{};
  if (getrlimit(RLIMIT_DATA, &data) != 0) return;
  const auto wanted = static_cast<rlim_t>(bytes) + beside;
  if (data.rlim_max != RLIM_INFINITY && wanted >= data.rlim_max) return;
  data.rlim_cur = wanted;
  setrlimit(RLIMIT_DATA, &data);
}

void limit_memory_as_asked(std::int64_t bytes) {
  asked_bytes = bytes;
  limit_memory(bytes);
}

std::int64_t asked_memory() { return asked_bytes; }

}  // namespace driftscope
