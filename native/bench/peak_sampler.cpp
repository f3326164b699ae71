#include "native/bench/peak_sampler.hpp"

#include <algorithm>
#include <chrono>

namespace driftscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds interval{50};
constexpr int max_part = 5;  // percent of the time for reading, which walks every page of a browser

}  // namespace

PeakSampler::PeakSampler(std::function<std::int64_t()> read)
    : read_(std::move(read)), thread_([this] { run(); }) {}

PeakSampler::~PeakSampler() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void PeakSampler::watch(bool wanted) {
  {
    const std::lock_guard lock(mutex_);
    if (wanted_ == wanted) return;
    wanted_ = wanted;
  }
  changed_.notify_all();
  // The caller stops sampling in order to measure: no reading may still be in progress.
  if (!wanted) const std::lock_guard done(reading_);
}

void PeakSampler::look() {
  const std::lock_guard lock(reading_);
  include(read_());
}

void PeakSampler::include(std::int64_t bytes) {
  std::int64_t known = peak_;
  while (bytes > known && !peak_.compare_exchange_weak(known, bytes)) {
  }
}

void PeakSampler::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    changed_.wait(lock, [this] { return wanted_ || ending_; });
    if (ending_) return;
    lock.unlock();
    const auto begin = Clock::now();
    look();
    const auto took = Clock::now() - begin;
    lock.lock();
    changed_.wait_for(lock, std::max<Clock::duration>(interval, took * (max_part - 1)),
                      [this] { return !wanted_ || ending_; });
  }
}

}  // namespace driftscope
