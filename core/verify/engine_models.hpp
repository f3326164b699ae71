// Which error model a trace is checked with: that of the engine which made it (EngineInfo), or of its kind where
// this build lacks the engine. Client: verify. A trace that does not say what made it is judged as an IEEE
// float32 CPU engine.
#pragma once

#include "core/numerics/error_model.hpp"
#include "core/trace/trace.hpp"

namespace driftscope {

[[nodiscard]] ErrorModel error_model_of(const Trace& trace);

}  // namespace driftscope
