// An attack on each sample by itself, so that what comes out of it does not depend on which samples are
// attacked together: methods draw random numbers for all their samples from one sequence, and Boundary even
// shares its directions. Client: native/host/attack_run, for studies, which attack samples in parts.
#pragma once

#include "core/attack/attack.hpp"

namespace driftscope {

/// Asks the questions of all of them together. `seeds`: one for each sample. Errors: those of make_attack.
[[nodiscard]] Result<std::unique_ptr<Attack>> make_separate_attacks(const AttackMethod& method,
                                                                    std::vector<AttackSample> samples,
                                                                    const AttackSettings& settings,
                                                                    std::span<const std::uint64_t> seeds);

}  // namespace driftscope
