// Actions to undo when Driftscope ends, however it ends: end browsers, remove temporary folders
// and unfinished files. Clients: processes, temporary folders and files (they register), the
// signal watcher. It ends nothing on its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

#include "core/base/result.hpp"

namespace driftscope {

class CleanupRegistry {
 public:
  static CleanupRegistry& instance();

  using Id = std::uint64_t;
  using Undo = std::function<void()>;

  /// Calls `begin`, which does something and returns how to undo it, and registers that; signals are
  /// handled before or after both. Errors: begin's own, or cancelled when everything is being undone.
  [[nodiscard]] Result<Id> add(const std::function<Result<Undo>()>& begin);
  /// Removes the entry without undoing: the owner has done it.
  void remove(Id id);
  /// Undoes everything, last first, and rejects later registrations. The `undo`s run on the calling
  /// thread and must not touch objects that other threads use. `end` comes right after them: until it has
  /// returned (if it does), all other callers wait, so that a program that is being ended by a signal
  /// does not go on and report the consequences as failures.
  void undo_all(const std::function<void()>& end = {});
  /// Whether undo_all has begun: later failures are its consequences.
  [[nodiscard]] bool closed() const;

 private:
  mutable std::mutex mutex_;
  std::map<Id, Undo> entries_;
  Id next_ = 1;
  bool closed_ = false;
};

}  // namespace driftscope
