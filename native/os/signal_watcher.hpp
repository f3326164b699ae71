// Signals that end the program: what it has begun is undone first. Clients: the mains, commands that stop by
// themselves.
#pragma once

#include <functional>
#include <memory>

namespace driftscope {

/// Catches SIGINT, SIGTERM and SIGHUP on a thread of its own, where any function may be called. To be
/// made in main before any other thread: those inherit the blocked signals.
class SignalWatcher {
 public:
  SignalWatcher();
  ~SignalWatcher();
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;

  /// While set, the first signal calls this and the program goes on (a server that stops by
  /// itself); otherwise, and for the second one, everything is undone and the program ends by the
  /// signal.
  static void on_stop(std::function<void()> stop);

 private:
  struct Watch;
  std::unique_ptr<Watch> watch_;
};

}  // namespace driftscope
