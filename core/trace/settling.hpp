// When have a model's times settled? Cold code is slow: an LSTM in Chromium takes 76 ms in its first run and
// 4 ms in its thirtieth. Client: record.
#pragma once

#include <cstdint>
#include <span>

namespace driftscope {

/// How long a recording may go on until its times have settled.
struct SettlingLimits {
  std::int64_t budget_ns = 0;         ///< of all runs; 0: it runs as often as it was asked to
  std::int64_t min_ns = 300'000'000;  ///< browsers compile hot code in the background, after a while
  std::int64_t max_runs = 200;
};

/// Whether to stop after these runs (total times, ns): the budget is used, or the last third is no faster
/// than the runs before it.
[[nodiscard]] bool has_settled(std::span<const std::int64_t> run_ns, const SettlingLimits& limits);

}  // namespace driftscope
