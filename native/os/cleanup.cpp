#include "native/os/cleanup.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <utility>

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

CleanupRegistry& CleanupRegistry::instance() {
  // Never destroyed: other statics, as runtimes in processes of their own, undo what they began when they
  // are.
  static CleanupRegistry& registry = *new CleanupRegistry;
  return registry;
}

Result<CleanupRegistry::Id> CleanupRegistry::add(const std::function<Result<Undo>()>& begin) {
  const std::lock_guard lock(mutex_);
  if (closed_) return Error{ErrorKind::cancelled, "stopped"};
  DRIFTSCOPE_TRY(Undo undo, begin());
  entries_.emplace(next_, std::move(undo));
  return next_++;
}

void CleanupRegistry::remove(Id id) {
  const std::lock_guard lock(mutex_);
  entries_.erase(id);
}

void CleanupRegistry::undo_all(const std::function<void()>& end) {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) entry->second();
  entries_.clear();
  if (end) end();
}

bool CleanupRegistry::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

SignalWatcher::SignalWatcher() {
  const sigset_t set = watched_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const int signals = signalfd(-1, &set, SFD_CLOEXEC);
  wake_ = eventfd(0, EFD_CLOEXEC);
  thread_ = std::thread([signals, wake = wake_] { watch(signals, wake); });
}

SignalWatcher::~SignalWatcher() {
  const std::uint64_t one = 1;
  if (write(wake_, &one, sizeof(one)) == sizeof(one)) thread_.join();
  close(wake_);
}

void SignalWatcher::on_stop(std::function<void()> stop) {
  const std::lock_guard lock(stop_mutex);
  stop_request = std::move(stop);
}

}  // namespace driftscope
