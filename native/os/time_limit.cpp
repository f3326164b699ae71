#include <utility>

#include "native/os/resource_limits.hpp"

namespace driftscope {

TimeLimit::TimeLimit(std::chrono::milliseconds time, std::function<void()> end)
    : thread_([this, time, end = std::move(end)] {
        std::unique_lock lock(mutex_);
        if (changed_.wait_for(lock, time, [this] { return over_; })) return;
        lock.unlock();
        end();
      }) {}

TimeLimit::~TimeLimit() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

}  // namespace driftscope
