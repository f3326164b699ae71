// Correct layers, judged by the million: how many false alarms are there? Client: main.
#pragma once

#include <cstdint>

#include "core/platform/platform.hpp"

namespace driftscope::faults {

/// Runs the networks of all kinds, correctly, from successive seeds, with inputs scaled by 1e-20 to 1e20, by
/// the strict kernels, in double rounded at the end, and on the engine fast, node by node and fused, until
/// `layers` layers were judged. Overflows on the way to a finite result are counted separately. Prints counts
/// by verdict and every alarm; returns whether there was no fault and at most one suspect in 100,000.
[[nodiscard]] bool judge_clean_layers(std::uint64_t layers, std::uint64_t first_seed, ThreadPool& threads);

}  // namespace driftscope::faults
