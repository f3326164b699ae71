// Signals that Node catches. What is begun is undone on a thread of its own, since Node's must go on
// meanwhile.
#include "native/os/signal_watcher.hpp"

#include <csignal>
#include <mutex>
#include <thread>
#include <utility>

#include "native/os/cleanup.hpp"
#include "node/system/system.hpp"

namespace driftscope {
namespace {

std::mutex stop_mutex;
std::function<void()> stop_request;  // guarded by stop_mutex

constexpr int over = -1;
std::atomic<int> signal_that_came = 0;

void handle(int number) {
  std::function<void()> stop;
  {
    const std::lock_guard lock(stop_mutex);
    stop = std::exchange(stop_request, nullptr);
  }
  if (stop) return stop();
  CleanupRegistry::instance().undo_all([number] { ds_end_by_signal(number); });
}

void watch() {
  while (true) {
    const int number = node::wait_for(signal_that_came);
    if (number == over) return;
    signal_that_came = 0;
    handle(number);
  }
}

}  // namespace

struct SignalWatcher::Watch {
  std::thread thread;
};

SignalWatcher::SignalWatcher() : watch_(std::make_unique<Watch>()) {
  ds_watch_signals(&signal_that_came);
  watch_->thread = std::thread(watch);
}

SignalWatcher::~SignalWatcher() {
  signal_that_came = over;
  emscripten_futex_wake(&signal_that_came, 1);
  watch_->thread.join();
}

void SignalWatcher::on_stop(std::function<void()> stop) {
  const std::lock_guard lock(stop_mutex);
  stop_request = std::move(stop);
}

}  // namespace driftscope
