#include "native/os/idle.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace driftscope {

std::int64_t processor_ns(const std::vector<pid_t>& processes) {
  std::int64_t sum = 0;
  for (const pid_t pid : processes) {
    std::error_code error;
    std::filesystem::directory_iterator threads("/proc/" + std::to_string(pid) + "/task", error);
    for (; !error && threads != std::filesystem::directory_iterator(); threads.increment(error)) {
      // proc(5): "time on a processor, time waiting for one, time slices".
      std::ifstream file(threads->path() / "schedstat");
      std::int64_t on_processor = 0;
      if (file >> on_processor) sum += on_processor;
    }
  }
  return sum;
}

void wait_until_idle(const std::vector<pid_t>& processes) {
  using std::chrono::steady_clock;
  // The kernel counts at its ticks, every 10 ms at the most.
  constexpr std::chrono::milliseconds look(15);
  constexpr std::chrono::milliseconds limit(100);
  const auto end = steady_clock::now() + limit;
  auto before = steady_clock::now();
  for (std::int64_t used = processor_ns(processes); before < end;) {
    std::this_thread::sleep_for(look);
    const std::int64_t used_now = processor_ns(processes);
    const auto now = steady_clock::now();
    const auto passed = std::chrono::duration_cast<std::chrono::nanoseconds>(now - before).count();
    if ((used_now - used) * 2 < passed) return;
    used = used_now;
    before = now;
  }
}

}  // namespace driftscope
