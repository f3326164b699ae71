// ThreadPool for builds without threads: the caller does all the work.
#include "core/platform/platform.hpp"

namespace driftscope {

bool threads_available() { return false; }

const void*& thread_slot() {
  static const void* slot = nullptr;
  return slot;
}

struct ThreadPool::State {};

ThreadPool::ThreadPool(int /*threads*/) : state_(std::make_unique<State>()) {}
ThreadPool::~ThreadPool() = default;
int ThreadPool::size() const { return 1; }

void ThreadPool::parallel_for(std::int64_t count, std::int64_t /*grain*/,
                              FunctionRef<void(std::int64_t, std::int64_t)> body) {
  if (count > 0) body(0, count);
}

}  // namespace driftscope
