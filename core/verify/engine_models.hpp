// Which error model a trace is verified with: that of the engine that made it (EngineInfo), or of its kind
// if this build lacks the engine. Client: verify. A trace that does not name its engine is verified as that
// of an IEEE float32 CPU engine.
#pragma once

#include "core/numerics/error_model.hpp"
#include "core/trace/trace.hpp"

namespace driftscope {

[[nodiscard]] ErrorModel error_model_of(const Trace& trace);

/// Whether the engine is ONNX Runtime, which quantizes the float32 biases of quantized sums.
[[nodiscard]] bool may_quantize_biases(const Trace& trace);
/// Whether the engine is unknown to this build, so that it may flush results in the subnormal range.
[[nodiscard]] bool may_flush_results(const Trace& trace);

}  // namespace driftscope
