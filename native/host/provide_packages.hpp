// What a target needs beyond this installation, fetched before it runs: another release of its runtime.
// Clients: TargetRunner, bisect.
#pragma once

#include "core/runtime/target.hpp"
#include "native/host/run_request.hpp"

namespace driftscope {

/// Nothing to do for most targets.
[[nodiscard]] Status provide_packages(const Target& target, const TargetProgress& progress);

}  // namespace driftscope
