#include "native/bench/machine.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include "core/base/json.hpp"
#include "core/platform/platform.hpp"

namespace driftscope {
namespace {

constexpr double noticeable_load = 0.1;

/// The value after "key :" in a file of /proc.
std::string field_of(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return {};
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

struct ProcessorTime {
  double busy = 0.0;
  double all = 0.0;
};

// proc(5): "cpu user nice system idle iowait irq softirq steal …"
std::optional<ProcessorTime> processor_time() {
  std::istringstream fields(first_line("/proc/stat"));
  std::string name;
  fields >> name;
  ProcessorTime time;
  int index = 0;
  for (double ticks = 0.0; index < 8 && fields >> ticks; ++index) {
    time.all += ticks;
    if (index != 3 && index != 4) time.busy += ticks;
  }
  return index == 8 ? std::optional(time) : std::nullopt;
}

std::optional<double> busy_share() {
  const auto before = processor_time();
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  const auto after = processor_time();
  if (!before || !after || after->all <= before->all) return std::nullopt;
  return (after->busy - before->busy) / (after->all - before->all);
}

}  // namespace

Machine describe_machine() {
  Machine machine;
  machine.cpu = field_of("/proc/cpuinfo", "model name");
  if (machine.cpu.empty()) machine.cpu = "unknown processor";
  machine.cores = usable_processors();
  nlohmann::json about = {{"cpu", machine.cpu}, {"cores", machine.cores}};
  about["memory_bytes"] = std::strtoll(field_of("/proc/meminfo", "MemTotal").c_str(), nullptr, 10) * 1024;
  utsname system{};
  if (uname(&system) == 0)
    about["system"] = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  const std::string governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (!governor.empty()) about["governor"] = governor;
  if (!governor.empty() && governor != "performance")
    machine.warnings.push_back(fmt::format(
        "The processor's governor is {}: its clock changes with the load. 'cpupower frequency-set -g "
        "performance' gives more stable figures.",
        governor));
  about["load_1min"] = std::strtod(first_line("/proc/loadavg").c_str(), nullptr);
  if (const auto busy = busy_share()) {
    about["busy_share"] = *busy;
    if (*busy > noticeable_load)
      machine.warnings.push_back(
          fmt::format("The machine was busy before the bench began: other processes used {:.0f} % of its "
                      "processors. Figures are noisier, and slower, than necessary.",
                      100.0 * *busy));
  }
  machine.json = json_text(about);
  return machine;
}

std::int64_t available_memory_bytes() {
  return std::strtoll(field_of("/proc/meminfo", "MemAvailable").c_str(), nullptr, 10) * 1024;
}

}  // namespace driftscope
