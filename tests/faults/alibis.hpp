// Correct implementations that differ from ours: none may be judged a fault. Client: main.
#pragma once

#include <cstdint>
#include <string>

#include "core/platform/platform.hpp"

namespace driftscope::faults {

/// Judges every alibi whose name contains `filter` on `seeds` seeds. Prints, for each (`quiet`: for those
/// with an alarm), the largest share of the budget used and its verdicts; returns whether there was neither a
/// fault nor a suspect.
[[nodiscard]] bool judge_alibis(const std::string& filter, std::uint64_t seeds, bool quiet,
                                ThreadPool& threads);

}  // namespace driftscope::faults
