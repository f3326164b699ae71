// ThreadPool on std::thread: native, and wasm built with threads.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "core/platform/platform.hpp"

namespace driftscope {

namespace {

// Layers of small networks take 50 to 100 µs: as long as it takes to wake a sleeping thread. So those
// who wait look for this long first.
constexpr std::int64_t spin_ns = 50'000;

template <class Done>
void spin_until(const Done& done) {
  constexpr int looks_per_reading = 64;
  const std::int64_t begin = monotonic_ns();
  do {
    for (int i = 0; i < looks_per_reading; ++i)
      if (done()) return;
    std::this_thread::yield();
  } while (monotonic_ns() - begin < spin_ns);
}

}  // namespace

bool threads_available() { return true; }

const void*& thread_slot() {
  thread_local const void* slot = nullptr;
  return slot;
}

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable work_ready;
  std::condition_variable work_done;
  std::vector<std::thread> threads;  // without the caller
  const std::function<void(std::int64_t, std::int64_t)>* body = nullptr;
  std::int64_t count = 0;
  std::int64_t chunk = 0;
  std::int64_t next = 0;       // first item not yet taken
  std::atomic<std::int64_t> unfinished = 0;  // chunks taken or waiting
  std::atomic<std::uint64_t> generation = 0;
  std::atomic<bool> stopping = false;

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
    std::uint64_t seen = 0;
    while (true) {
      spin_until([&] { return stopping || generation != seen; });
      std::unique_lock lock(mutex);
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
  lock.unlock();
  spin_until([&] { return state_->unfinished == 0; });
  lock.lock();
  state_->work_done.wait(lock, [&] { return state_->unfinished == 0; });
  state_->body = nullptr;
}

}  // namespace driftscope
