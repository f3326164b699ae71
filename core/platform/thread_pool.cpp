// ThreadPool on std::thread: native, and wasm built with threads.
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "core/platform/platform.hpp"

namespace driftscope {

bool threads_available() { return true; }

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable work_ready;
  std::condition_variable work_done;
  std::vector<std::thread> threads;  // without the caller
  const std::function<void(std::int64_t, std::int64_t)>* body = nullptr;
  std::int64_t count = 0;
  std::int64_t chunk = 0;
  std::int64_t next = 0;       // first item not yet taken
  std::int64_t unfinished = 0; // chunks taken or waiting
  std::uint64_t generation = 0;
  bool stopping = false;

  // Takes chunks until there are none; `lock` is held on entry and on return.
  void work(std::unique_lock<std::mutex>& lock) {
    while (next < count) {
      const std::int64_t begin = next;
      const std::int64_t end = std::min(count, begin + chunk);
      next = end;
      const auto* current = body;
      lock.unlock();
      (*current)(begin, end);
      lock.lock();
      if (--unfinished == 0) work_done.notify_all();
    }
  }

  void serve() {
    std::unique_lock lock(mutex);
    std::uint64_t seen = 0;
    while (true) {
      work_ready.wait(lock, [&] { return stopping || generation != seen; });
      if (stopping) return;
      seen = generation;
      work(lock);
    }
  }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  State* state = state_.get();
  for (int i = 1; i < threads; ++i) {
    try {
      state->threads.emplace_back([state] { state->serve(); });
    } catch (const std::system_error&) {
      break;  // the platform gives no more: size() says how many there are
    }
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->work_ready.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

int ThreadPool::size() const { return static_cast<int>(state_->threads.size()) + 1; }

void ThreadPool::parallel_for(std::int64_t count, std::int64_t grain,
                              const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (count <= 0) return;
  grain = std::max<std::int64_t>(grain, 1);
  if (state_->threads.empty() || count <= grain) return body(0, count);
  // About four chunks a thread: enough to even out, few enough that taking one costs nothing.
  const std::int64_t wanted = static_cast<std::int64_t>(size()) * 4;
  std::unique_lock lock(state_->mutex);
  state_->chunk = std::max(grain, (count + wanted - 1) / wanted);
  state_->count = count;
  state_->next = 0;
  state_->unfinished = (count + state_->chunk - 1) / state_->chunk;
  state_->body = &body;
  ++state_->generation;
  state_->work_ready.notify_all();
  state_->work(lock);
  state_->work_done.wait(lock, [&] { return state_->unfinished == 0; });
  state_->body = nullptr;
}

}  // namespace driftscope
