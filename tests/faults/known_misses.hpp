// Kinds of fault that the verdict is known to miss, with the reason: blind spots, each to be fixed or
// explained in docs/numerics.md. Client: main, which counts them separately.
#pragma once

#include <string>

namespace driftscope::faults {

/// Why a kind is missed; null if it should be found.
[[nodiscard]] const std::string* known_miss(const std::string& kind);

}  // namespace driftscope::faults
