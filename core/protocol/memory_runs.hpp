// Memory from run to run, as far as it can be seen inside: the heap and the engine's own. Hosts that see the
// processes watch those (native/bench/memory_runs.hpp). Client: timed_run.
#pragma once

#include <cstdint>
#include <memory>

#include "core/bench/memory_sampling.hpp"
#include "core/protocol/measure.hpp"
#include "core/protocol/runs_after.hpp"

namespace driftscope {

class MemoryRuns final : public RunsAfter {
 public:
  explicit MemoryRuns(std::int64_t runs) : sampling_({.runs = runs, .max_growth = max_growth}) {}

  [[nodiscard]] Status prepare(LoadedModel& model, StartRequest start) override;
  [[nodiscard]] Result<Progress> poll(std::int64_t budget_ns) override;
  void add_to(Trace& trace) override { add_memory_over_runs(trace, sampling_.memory()); }
  [[nodiscard]] Status failed(Trace& trace, const Error& error) override;

 private:
  /// So much is a leak, and more might end the page or the server.
  static constexpr std::int64_t max_growth = 1'000'000'000;

  MemorySampling sampling_;
  std::unique_ptr<Measurement> measurement_;
  std::int64_t began_ns_ = 0;
  bool done_ = false;
};

}  // namespace driftscope
