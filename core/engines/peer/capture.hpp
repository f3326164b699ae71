// Which inner values of a model ONNX Runtime can hand over. Client: engines/ort.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/engines/ort/backend.hpp"
#include "core/graph/graph.hpp"
#include "core/model/graph_outputs.hpp"

namespace driftscope::ort {

struct CapturePlan {
  std::vector<std::string> added;  ///< become outputs of the graph, in the order of its nodes
  std::size_t hidden = 0;          ///< values that no output can show
  std::string hidden_why;          ///< of the first of them
};

/// The values of `graph` that nodes of the model's outermost graph make and that are no outputs yet.
/// Hidden are those inside the model's own functions, and those of types that `backend` cannot pass.
[[nodiscard]] CapturePlan plan_capture(const Graph& graph, const ModelOutline& outline,
                                       const Backend& backend);

/// The values of `graph` that are left in a model that ONNX Runtime has optimised, in ONNX layout. (What
/// it keeps in a layout of its own has another name; nodes that make such values are passed over.)
[[nodiscard]] CapturePlan plan_fused_capture(const Graph& graph, const ModelOutline& optimized,
                                             const Backend& backend);

}  // namespace driftscope::ort
