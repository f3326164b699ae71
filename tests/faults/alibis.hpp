// Correct implementations that differ from ours: none may be called a fault. Client: main.
#pragma once

#include <cstdint>
#include <string>

#include "core/platform/platform.hpp"

namespace driftscope::faults {

/// Judges every alibi whose name holds `filter` on so many seeds. Prints, for each (`quiet`: for those that
/// raised one), the largest share of the budget that it used and its verdicts; whether there was neither a
/// fault nor a suspect.
[[nodiscard]] bool judge_alibis(const std::string& filter, std::uint64_t seeds, bool quiet,
                                ThreadPool& threads);

}  // namespace driftscope::faults
