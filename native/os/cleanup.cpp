#include "native/os/cleanup.hpp"

#include <utility>

namespace driftscope {

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

}  // namespace driftscope
