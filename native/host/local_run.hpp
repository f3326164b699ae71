// A run on this PC, through the same service and the same messages that a browser's worker uses.
// Client: target_runner.
#pragma once

#include "native/host/target_runner.hpp"

namespace driftscope {

[[nodiscard]] Result<Trace> run_locally(const Target& target, const RunRequest& request,
                                        const TargetProgress& progress);

/// The inputs of a request as a safetensors file, the form in which they are sent.
[[nodiscard]] Result<Bytes> pack_inputs(const NamedInputs& inputs);

}  // namespace driftscope
