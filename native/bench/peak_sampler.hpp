// The most memory that was seen while something ran: read again and again on a thread of its own, as
// long as it is wanted. Clients: the subjects of a bench.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace driftscope {

class PeakSampler {
 public:
  /// `read` gives bytes; it is called from the sampler's thread and by look(), one call at a time.
  explicit PeakSampler(std::function<std::int64_t()> read);
  ~PeakSampler();
  PeakSampler(const PeakSampler&) = delete;
  PeakSampler& operator=(const PeakSampler&) = delete;

  /// Reading costs time of the processor: only while nothing is measured.
  void watch(bool wanted);
  /// Watches as long as it lives, where that is wanted. Not longer: it is other targets' turn then.
  class Watch {
   public:
    Watch(PeakSampler& sampler, bool wanted) : sampler_(sampler) { sampler_.watch(wanted); }
    ~Watch() { sampler_.watch(false); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    PeakSampler& sampler_;
  };
  /// Reads once, now.
  void look();
  void include(std::int64_t bytes);
  [[nodiscard]] std::int64_t peak() const { return peak_; }

 private:
  void run();

  std::function<std::int64_t()> read_;
  std::mutex reading_;
  std::atomic<std::int64_t> peak_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool wanted_ = false;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace driftscope
