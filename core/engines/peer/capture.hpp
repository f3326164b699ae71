// Which inner values of a model a runtime can return. Client: peer_engine.cpp.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/engines/peer/runtime.hpp"
#include "core/graph/graph.hpp"
#include "core/model/graph_outputs.hpp"
#include "core/model/inside_outputs.hpp"

namespace driftscope::peer {

struct CapturePlan {
  std::vector<std::string> added;  ///< become outputs of the graph, in the order of its nodes
  std::size_t hidden = 0;          ///< values that no output can show
  std::string hidden_why;          ///< of the first of them
};

/// The values of `graph` computed by nodes of the model's outermost graph that are not outputs yet.
/// Hidden are those inside the model's own functions, and those of types that `runtime` cannot pass.
[[nodiscard]] CapturePlan plan_capture(const Graph& graph, const ModelOutline& outline,
                                       const Runtime& runtime);

/// The values inside If, Loop and Scan of `graph`, at any depth of branches: they become outputs of these
/// nodes and of the model. Those of loops whose number of iterations is not known before the run, or that
/// would take much memory, and those inside loops inside others count as hidden in `plan`.
[[nodiscard]] std::vector<InsideOutputs> plan_inside(const Graph& graph, const Runtime& runtime,
                                                     CapturePlan& plan);

/// The same for a runtime that gets our graph, in which functions are inlined.
[[nodiscard]] CapturePlan plan_capture(const Graph& graph, const Runtime& runtime);

/// The values of `graph` that remain in a model rewritten by the runtime, in ONNX layout. (Values in another
/// layout have other names; nodes for which `in_onnx_layout` is false are skipped.)
[[nodiscard]] CapturePlan plan_fused_capture(const Graph& graph, const ModelOutline& rewritten,
                                             const Runtime& runtime,
                                             bool (*in_onnx_layout)(const OutlineNode&));

}  // namespace driftscope::peer
