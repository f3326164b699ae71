// A thread for each host that lives until the end. Client: study_run. A process that a thread has started, a
// browser that stays open, ends with that thread: what runs on a host has to come from the same one.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace driftscope {

class HostLanes {
 public:
  HostLanes() = default;
  HostLanes(const HostLanes&) = delete;
  HostLanes& operator=(const HostLanes&) = delete;
  /// Waits for what runs.
  ~HostLanes();

  /// On the host's thread, behind nothing: its last task has said that it is over.
  void start(const std::string& host, std::function<void()> task);

 private:
  struct Lane {
    std::mutex mutex;
    std::condition_variable changed;
    std::function<void()> task;  ///< empty: nothing to do
    bool over = false;
    std::thread thread;
    void work();
  };
  std::map<std::string, Lane> lanes_;
};

}  // namespace driftscope
