// Which error model a trace is verified with: that of the engine that made it (EngineInfo), or of its kind
// if this build lacks the engine. Client: verify. A trace that does not name its engine is verified as that
// of an IEEE float32 CPU engine.
#pragma once

#include "core/numerics/error_model.hpp"
#include "core/trace/trace.hpp"

namespace driftscope {

[[nodiscard]] ErrorModel error_model_of(const Trace& trace);

}  // namespace driftscope
