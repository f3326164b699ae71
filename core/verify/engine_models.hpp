// What a trace says of the engine that made it, as far as it decides how the trace is judged. The error model
// is that of the engine (EngineInfo), or of its kind if this build lacks the engine; a trace that does not
// name its engine is judged as that of an IEEE float32 CPU engine. Clients: verify, judges.
#pragma once

#include <string>
#include <vector>

#include "core/numerics/error_model.hpp"
#include "core/trace/trace.hpp"

namespace driftscope {

struct RunFacts {
  ErrorModel model;
  /// Ids of the correct variants that the run names ("algorithms"); if empty, all are tried.
  std::vector<std::string> algorithms;
  /// The engine is ONNX Runtime, which quantizes the float32 biases of quantized sums.
  bool may_quantize_biases = false;
  /// The engine is unknown to this build, so that it may flush results in the subnormal range.
  bool may_flush_results = false;
};

[[nodiscard]] RunFacts run_facts_of(const Trace& trace);

[[nodiscard]] ErrorModel error_model_of(const Trace& trace);

}  // namespace driftscope
