// Whether loops are worth sharing among threads: where other programs hold the processors, the caller waits
// for a thread that does not run, and is slower than alone. Client: thread_pool. It reads no clock.
#pragma once

#include <algorithm>
#include <cstdint>

namespace driftscope {

/// What one loop took.
struct LoopTimes {
  std::int64_t elapsed_ns = 0;    ///< of the caller
  std::int64_t processor_ns = 0;  ///< of all threads together
};

/// Loops are shared, and now and then it is looked at how much time went by for each second of work. Where
/// that is no less than alone, they are not for a while, which gets longer as long as nothing changes.
class Sharing {
 public:
  /// Whether the loop that begins now is to be shared; `now()` is asked only when there is a doubt.
  template <class Now>
  [[nodiscard]] bool wanted(const Now& now) {
    if (!alone_) return true;
    const std::int64_t now_ns = now();
    if (now_ns >= alone_until_ns_) {
      if (times_.processor_ns > 0) alone_rate_ = rate(times_);
      alone_rate_until_ns_ = now_ns + rate_lasts_ns;
      times_ = {};
      alone_ = false;
    }
    return !alone_;
  }

  /// A loop has ended that `wanted` was asked about.
  void add(const LoopTimes& loop, std::int64_t now_ns) {
    times_.elapsed_ns += std::min(loop.elapsed_ns, longest_wait * loop.processor_ns);
    times_.processor_ns += loop.processor_ns;
    if (alone_ || times_.elapsed_ns < trial_ns || times_.processor_ns <= 0) return;
    if (rate(times_) > worth_it * (now_ns < alone_rate_until_ns_ ? alone_rate_ : 1.0)) {
      alone_ = true;
      alone_until_ns_ = now_ns + rest_ns_;
      rest_ns_ = rest_ns_ < longest_rest_ns ? 2 * rest_ns_ : longest_rest_ns;
    } else {
      rest_ns_ = shortest_rest_ns;
    }
    times_ = {};
  }

 private:
  static constexpr std::int64_t trial_ns = 500'000;
  // An interrupt stops any machine once in a while: one loop does not decide.
  static constexpr std::int64_t longest_wait = 4;
  static constexpr std::int64_t shortest_rest_ns = 100'000'000;
  static constexpr std::int64_t longest_rest_ns = 800'000'000;
  static constexpr std::int64_t rate_lasts_ns = 3'000'000'000;
  // Shared loops have more work than others, which counts as theirs.
  static constexpr double worth_it = 0.8;

  static double rate(const LoopTimes& times) {
    return static_cast<double>(times.elapsed_ns) / static_cast<double>(times.processor_ns);
  }

  LoopTimes times_;  // since the last decision
  bool alone_ = false;
  std::int64_t alone_until_ns_ = 0;
  std::int64_t rest_ns_ = shortest_rest_ns;
  // Of a loop that is not shared: 1, and more where others take their part of that, too.
  double alone_rate_ = 1.0;
  std::int64_t alone_rate_until_ns_ = 0;
};

}  // namespace driftscope
