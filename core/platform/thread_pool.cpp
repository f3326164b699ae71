// ThreadPool on std::thread: native, and wasm built with threads.
//
// The chunks of a loop are handed out by one counter of the remaining ones. The loop's data (body, sizes) are
// read only after decrementing it (acquire), and changed only while no chunk is left or in progress.
// So neither a lock nor a loop number is needed.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "core/platform/platform.hpp"
#include "core/platform/sharing.hpp"
#include "core/platform/thread_time.hpp"

namespace driftscope {

namespace {

// A layer of a small network takes 10 to 100 µs, as long as waking a sleeping thread. So a waiting thread
// spins for this long before it sleeps.
constexpr std::int64_t spin_ns = 100'000;

template <class Done>
bool spin_until(const Done& done) {
  constexpr int looks_per_reading = 256;
  // In a browser reading the clock takes as long as the shortest waits: it is read only after many polls.
  for (std::int64_t begin = 0;;) {
    for (int i = 0; i < looks_per_reading; ++i)
      if (done()) return true;
    const std::int64_t now = monotonic_ns();
    if (begin == 0)
      begin = now;
    else if (now - begin >= spin_ns)
      return false;
    std::this_thread::yield();
  }
}

}  // namespace

bool threads_available() { return true; }

const void*& thread_slot() {
  thread_local const void* slot = nullptr;
  return slot;
}

// Progress of one part of parallel_steps: each on its own cache line.
struct alignas(64) Progress {
  std::atomic<std::int64_t> steps = 0;
};

struct ThreadPool::State {
  // On separate cache lines, so that waiting for one does not slow down updates of the other.
  alignas(64) std::atomic<std::int64_t> left = 0;        // chunks not yet taken
  alignas(64) std::atomic<std::int64_t> unfinished = 0;  // chunks not yet finished
  alignas(64) std::atomic<int> sleepers = 0;
  std::atomic<bool> caller_sleeps = false;
  std::atomic<bool> stopping = false;
  // A chunk of this loop got no memory. The exception must not leave a thread of the pool, which would end
  // the program, nor the caller's before the others are done with the loop's data.
  std::atomic<bool> out_of_memory = false;
  const FunctionRef<void(std::int64_t, std::int64_t)>* body = nullptr;
  std::int64_t count = 0;
  std::int64_t chunk = 0;
  std::int64_t chunks = 0;
  std::mutex mutex;  // for sleeping threads
  std::condition_variable work_ready;
  std::condition_variable work_done;
  // Only some loops are timed, as reading a thread's time is a system call.
  static constexpr unsigned loops_per_timing = 64;
  Sharing sharing;
  unsigned loops = 0;
  const bool can_time = thread_processor_ns().has_value();
  bool timed = false;                          // this loop
  std::atomic<std::int64_t> processor_ns = 0;  // of its chunks that have finished
  std::vector<Progress> progress;
  std::vector<std::thread> threads;  // without the calling thread

  // Takes the next chunk of the loop (ascending order); −1 when none is left.
  std::int64_t take() {
    std::int64_t now = left.load(std::memory_order_relaxed);
    while (now > 0)
      if (left.compare_exchange_weak(now, now - 1, std::memory_order_acquire, std::memory_order_relaxed))
        return chunks - now;
    return -1;
  }

  void work() {
    for (std::int64_t i = take(); i >= 0; i = take()) {
      const std::int64_t begin = timed ? thread_processor_ns().value_or(0) : 0;
      try {
        (*body)(i* chunk, std::min(count, (i + 1) * chunk));
      } catch (const std::bad_alloc&) {
        out_of_memory = true;
      }
      if (timed) processor_ns += thread_processor_ns().value_or(begin) - begin;
      if (unfinished.fetch_sub(1) == 1 && caller_sleeps) {
        const std::lock_guard lock(mutex);
        work_done.notify_one();
      }
    }
  }

  void serve() {
    const auto ready = [&] { return left > 0 || stopping; };
    while (!stopping) {
      if (!spin_until(ready)) {
        std::unique_lock lock(mutex);
        ++sleepers;  // before the last check: the thread that adds work checks in the opposite order
        work_ready.wait(lock, ready);
        --sleepers;
      }
      work();
    }
  }

  /// On the calling thread alone.
  void run_alone(std::int64_t all, FunctionRef<void(std::int64_t, std::int64_t)> whole) {
    const std::int64_t begin = timed ? monotonic_ns() : 0;
    const std::int64_t processor_begin = timed ? thread_processor_ns().value_or(0) : 0;
    whole(0, all);
    if (!timed) return;
    const std::int64_t now = monotonic_ns();
    sharing.add({now - begin, thread_processor_ns().value_or(0) - processor_begin}, now);
  }

  void run_shared(std::int64_t all, std::int64_t grain, int size,
                  FunctionRef<void(std::int64_t, std::int64_t)> part) {
    // About four chunks a thread: enough to even out, few enough that taking one costs nothing.
    const std::int64_t wanted = static_cast<std::int64_t>(size) * 4;
    const std::int64_t begin = timed ? monotonic_ns() : 0;
    body = &part;
    count = all;
    chunk = std::max(grain, (all + wanted - 1) / wanted);
    chunks = (all + chunk - 1) / chunk;
    processor_ns = 0;
    unfinished = chunks;
    left = chunks;
    if (sleepers > 0) {
      const std::lock_guard lock(mutex);
      work_ready.notify_all();
    }
    work();
    wait_until_done();
    if (timed) {
      const std::int64_t now = monotonic_ns();
      sharing.add({now - begin, processor_ns}, now);
    }
    if (out_of_memory.exchange(false)) throw std::bad_alloc();
  }

  /// Whether the next loop is shared; it may be timed.
  bool shares() {
    timed = can_time && ++loops % loops_per_timing == 0;
    return !can_time || sharing.wanted(&monotonic_ns);
  }

  void wait_until_done() {
    const auto done = [&] { return unfinished == 0; };
    if (spin_until(done)) return;
    std::unique_lock lock(mutex);
    caller_sleeps = true;
    work_done.wait(lock, done);
    caller_sleeps = false;
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
  state->progress = std::vector<Progress>(static_cast<std::size_t>(size()));
}

ThreadPool::~ThreadPool() {
  state_->stopping = true;
  {
    const std::lock_guard lock(state_->mutex);
  }
  state_->work_ready.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

int ThreadPool::size() const { return static_cast<int>(state_->threads.size()) + 1; }

void ThreadPool::parallel_for(std::int64_t count, std::int64_t grain,
                              FunctionRef<void(std::int64_t, std::int64_t)> body) {
  if (count <= 0) return;
  grain = std::max<std::int64_t>(grain, 1);
  State& state = *state_;
  if (state.threads.empty() || count <= grain) return body(0, count);
  if (state.shares())
    state.run_shared(count, grain, size(), body);
  else
    state.run_alone(count, body);
}

void ThreadPool::parallel_steps(int parts, std::int64_t steps, FunctionRef<void(int, std::int64_t)> body) {
  if (state_->threads.empty() || parts == 1 || !state_->shares()) {
    for (std::int64_t step = 0; step < steps; ++step)
      for (int part = 0; part < parts; ++part) body(part, step);
    return;
  }
  std::vector<Progress>& progress = state_->progress;
  for (Progress& one : progress) one.steps = 0;
  // A waiting thread holds exactly one part, and there are as many threads as parts: every part gets one.
  const auto run_part = [&](std::int64_t begin, std::int64_t /*end*/) {
    const int part = static_cast<int>(begin);
    bool works = true;  // without memory it goes on counting: the others wait for its steps
    for (std::int64_t step = 0; step < steps; ++step) {
      try {
        if (works) body(part, step);
      } catch (const std::bad_alloc&) {
        works = false;
      }
      progress[static_cast<std::size_t>(part)].steps.store(step + 1, std::memory_order_release);
      for (int i = 0; i < parts; ++i) {
        const Progress& other = progress[static_cast<std::size_t>(i)];
        const auto there = [&] { return other.steps.load(std::memory_order_acquire) > step; };
        while (!spin_until(there)) std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
    if (!works) throw std::bad_alloc();
  };
  state_->timed = false;  // waiting by spinning looks like work
  state_->run_shared(parts, 1, size(), run_part);
}

}  // namespace driftscope
