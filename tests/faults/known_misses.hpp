// Kinds of fault that the verdict is known not to see, with the reason: blind spots, each to be mended or
// explained in docs/numerics.md. Client: main, which counts them apart.
#pragma once

#include <string>

namespace driftscope::faults {

/// Why a kind is missed; null when it ought to be found.
[[nodiscard]] const std::string* known_miss(const std::string& kind);

}  // namespace driftscope::faults
