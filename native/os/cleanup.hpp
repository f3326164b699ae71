// What must be undone when Driftscope ends, however it ends: browsers ended, temporary folders
// removed, unfinished files too. Clients: processes, temporary folders and files (they register), the
// command line (it watches signals). It ends nothing by itself.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "core/base/result.hpp"

namespace driftscope {

class CleanupRegistry {
 public:
  static CleanupRegistry& instance();

  using Id = std::uint64_t;
  using Undo = std::function<void()>;

  /// Calls `begin`, which does something and returns how to undo it, and registers that; no signal
  /// falls between the two. Errors: begin's own, or cancelled when everything is being undone.
  [[nodiscard]] Result<Id> add(const std::function<Result<Undo>()>& begin);
  /// Forgets without undoing: the owner has done it.
  void remove(Id id);
  /// Undoes everything, last first, and rejects what comes later. The `undo`s run on the calling
  /// thread and must not touch objects that other threads use. `end` comes right after them: until it has
  /// returned (if it does), every other caller waits, so that a program that is ended by a signal
  /// cannot go on with what it takes for failures.
  void undo_all(const std::function<void()>& end = {});
  /// Whether undo_all has begun: failures seen from now on are its doing.
  [[nodiscard]] bool closed() const;

 private:
  mutable std::mutex mutex_;
  std::map<Id, Undo> entries_;
  Id next_ = 1;
  bool closed_ = false;
};

/// Catches SIGINT, SIGTERM and SIGHUP on a thread of its own, where anything may be called. To be
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
  int wake_ = -1;
  std::thread thread_;
};

}  // namespace driftscope
