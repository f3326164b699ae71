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

void ThreadPool::parallel_steps(int parts, std::int64_t steps, FunctionRef<void(int, std::int64_t)> body) {
  for (std::int64_t step = 0; step < steps; ++step)
    for (int part = 0; part < parts; ++part) body(part, step);
}

}  // namespace driftscope
