#include "native/os/signal_watcher.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <mutex>
#include <thread>
#include <utility>

#include "native/os/cleanup.hpp"

namespace driftscope {
namespace {

std::mutex stop_mutex;
std::function<void()> stop_request;  // guarded by stop_mutex

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, number);
  return set;
}

void end_by(int number) {
  CleanupRegistry::instance().undo_all([number] {
    std::signal(number, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    raise(number);
  });
}

void handle(int number) {
  std::function<void()> stop;
  {
    const std::lock_guard lock(stop_mutex);
    stop = std::exchange(stop_request, nullptr);
  }
  stop ? stop() : end_by(number);
}

void watch(int signals, int wake) {
  while (true) {
    std::array<pollfd, 2> ready{{{signals, POLLIN, 0}, {wake, POLLIN, 0}}};
    if (poll(ready.data(), ready.size(), -1) < 0) continue;
    if (ready[1].revents != 0) break;
    signalfd_siginfo info{};
    if (read(signals, &info, sizeof(info)) == sizeof(info)) handle(static_cast<int>(info.ssi_signo));
  }
  close(signals);
}

}  // namespace

struct SignalWatcher::Watch {
  int wake = -1;
  std::thread thread;
};

SignalWatcher::SignalWatcher() : watch_(std::make_unique<Watch>()) {
  const sigset_t set = watched_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const int signals = signalfd(-1, &set, SFD_CLOEXEC);
  watch_->wake = eventfd(0, EFD_CLOEXEC);
  watch_->thread = std::thread([signals, wake = watch_->wake] { watch(signals, wake); });
}

SignalWatcher::~SignalWatcher() {
  const std::uint64_t one = 1;
  if (write(watch_->wake, &one, sizeof(one)) == sizeof(one)) watch_->thread.join();
  close(watch_->wake);
}

void SignalWatcher::on_stop(std::function<void()> stop) {
  const std::lock_guard lock(stop_mutex);
  stop_request = std::move(stop);
}

}  // namespace driftscope
