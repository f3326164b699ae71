#include <chrono>
#include <thread>

#include "native/os/child_process.hpp"

namespace driftscope {

bool ChildProcess::wait(int milliseconds) const {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (running()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace driftscope
