// A run on this PC, through the same service and the same messages that a browser's worker uses.
// Client: target_runner.
#pragma once

#include "native/host/target_runner.hpp"

namespace driftscope {

[[nodiscard]] Result<Trace> run_locally(const Target& target, const RunRequest& request,
                                        const TargetProgress& progress);

/// What an engine does that is not ready yet and compiles so many programs for a GPU; 0: not known.
[[nodiscard]] std::string_view preparing_step(std::int64_t programs);

/// The inputs of a request as a safetensors file, the form in which they are sent.
[[nodiscard]] Result<Bytes> pack_inputs(const NamedInputs& inputs);

}  // namespace driftscope
