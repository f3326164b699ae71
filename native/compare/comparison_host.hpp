// The runs of a comparison on this machine: through TargetRunner, which blocks until a run is over.
// Clients: the compare command, baselines, the window.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/compare/comparison_run.hpp"
#include "native/bench/memory_runs.hpp"
#include "native/compare/device_checks.hpp"
#include "native/host/inputs.hpp"
#include "native/host/spilled_values.hpp"
#include "native/host/target_runner.hpp"

namespace driftscope {

/// How long a comparison's watched runs may go on by default, until the times of layers have settled.
inline constexpr std::chrono::milliseconds settle_time{1000};
/// How long a target's own time is measured by default.
inline constexpr std::chrono::milliseconds unwatched_time{1000};

/// Common to all targets of a comparison.
struct ComparisonInputs {
  GivenInputs inputs;
  std::optional<GivenDataset> dataset = {};
  messages::RunPlan plan = {};     ///< of the runs that are compared
  std::int64_t memory_runs = 200;  ///< over at most so many memory is watched, where it is; 0: on none
  DeviceChecks on_devices = {};
  TensorSink sink = {};                ///< of the only target, whose trace then holds no values
  std::function<bool()> stopped = {};  ///< called from any thread; none: never
};

class NativeComparisonHost final : public ComparisonHost {
 public:
  /// All must outlive the host.
  NativeComparisonHost(const ModelFile& model, const ComparisonInputs& inputs, TargetRunner& runner);
  /// Ends the last target's browser.
  ~NativeComparisonHost() override;
  NativeComparisonHost(const NativeComparisonHost&) = delete;
  NativeComparisonHost& operator=(const NativeComparisonHost&) = delete;

  [[nodiscard]] Result<std::unique_ptr<TargetRun>> start(const Target& target, RunPurpose purpose,
                                                         std::span<const std::int64_t> samples) override;
  void release_values() override;
  [[nodiscard]] bool stopped() const override;

 private:
  [[nodiscard]] RunRequest request_for(const Target& target, RunPurpose purpose) const;
  [[nodiscard]] Result<RunRequest> request_for_samples(const Target& target,
                                                       std::span<const std::int64_t> samples) const;
  [[nodiscard]] std::unique_ptr<TargetRun> watch_memory_of(const Target& target);

  const ModelFile& model_;
  const ComparisonInputs& inputs_;
  TargetRunner& runner_;
  SpilledValues values_;
  std::chrono::steady_clock::time_point released_{};
  SiteServers memory_servers_;  // with no other client, once a browser needs one
};

/// The parts of a view that are known before anything has run: model and inputs.
[[nodiscard]] ComparisonView describe_comparison(const ModelFile& model, const ComparisonInputs& inputs);

/// Whether memory is watched on any of these targets.
[[nodiscard]] bool watches_memory(const ComparisonInputs& inputs, std::span<const Target> targets);

/// The plan of a target's runs that are compared: that of all, or with the checks of devices.
[[nodiscard]] messages::RunPlan plan_on(const Target& target, const ComparisonInputs& inputs);

/// For the data set, if there is one; nobody goes on with its answers.
[[nodiscard]] std::optional<DatasetPlan> dataset_plan(const ComparisonInputs& inputs);

}  // namespace driftscope
