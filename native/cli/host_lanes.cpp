#include "native/cli/host_lanes.hpp"

#include <utility>

namespace driftscope {

HostLanes::~HostLanes() {
  for (auto& [host, lane] : lanes_) {
    {
      const std::lock_guard lock(lane.mutex);
      lane.over = true;
    }
    lane.changed.notify_one();
    if (lane.thread.joinable()) lane.thread.join();
  }
}

void HostLanes::start(const std::string& host, std::function<void()> task) {
  Lane& lane = lanes_[host];
  if (!lane.thread.joinable()) lane.thread = std::thread([&lane] { lane.work(); });
  {
    std::unique_lock lock(lane.mutex);
    // Its last task may have said that it is over just before it returns.
    lane.changed.wait(lock, [&] { return !lane.task; });
    lane.task = std::move(task);
  }
  lane.changed.notify_all();
}

void HostLanes::Lane::work() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return over || task; });
    if (!task) return;
    lock.unlock();
    task();  // set by start() alone, which waits until it is empty
    lock.lock();
    task = nullptr;
    changed.notify_all();
  }
}

}  // namespace driftscope
