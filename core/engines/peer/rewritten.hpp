// The model as a peer's runtime rewrites it, to show which nodes an optimisation level fuses. Client: the
// bisect command.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "core/model/graph_outputs.hpp"
#include "core/model/model_source.hpp"
#include "core/runtime/engine.hpp"

namespace driftscope::peer {

/// Nodes of the user's model as this engine runs it with these options of a target. Errors: unsupported with
/// the reason when the engine does not expose its rewritten model; what the runtime says.
[[nodiscard]] Result<ModelOutline> rewritten_outline(const Engine& engine,
                                                     std::shared_ptr<const ModelSource> source,
                                                     const EngineOptions& options);

}  // namespace driftscope::peer
