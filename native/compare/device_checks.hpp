// What is looked at on devices of the hub (remote:NAME) though nobody asked for it: they crash in the k-th
// run, and their memory grows, more often than others' does. Few runs and little time: a comparison there
// shall not take much longer. Client: comparison_host.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/compare/comparison_host.hpp"
#include "native/host/target_runner.hpp"

namespace driftscope {

struct DeviceChecks {
  bool compare_runs = false;  ///< with a plan that says nothing of repeats; of several runs with any
  bool memory = false;        ///< where memory is watched on none
};

inline constexpr std::int64_t device_repeats = 5;
inline constexpr std::int64_t device_memory_runs = 40;
inline constexpr std::chrono::seconds device_memory_time{10};

/// Watches the memory of runs in a job like any other, which is made for bad networks. Where they are not
/// done in time its trace says nothing.
[[nodiscard]] std::unique_ptr<TargetRun> device_memory_run(TargetRunner& runner, Target target,
                                                           RunRequest request);

}  // namespace driftscope
