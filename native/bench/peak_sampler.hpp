// The peak of memory while something runs: sampled repeatedly on a separate thread, as
// long as requested. Clients: the subjects of a bench.
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
  /// `read` returns bytes; it is called from the sampler's thread and by look(), one call at a time.
  explicit PeakSampler(std::function<std::int64_t()> read);
  ~PeakSampler();
  PeakSampler(const PeakSampler&) = delete;
  PeakSampler& operator=(const PeakSampler&) = delete;

  /// Reading takes processor time: only while nothing is measured.
  void watch(bool wanted);
  /// Samples during its lifetime. Not longer, since then other targets have their turn.
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
