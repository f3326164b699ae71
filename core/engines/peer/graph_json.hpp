// Our graph for a runtime that does not read ONNX: JSON that refers to constants' bytes in place. Client:
// core/protocol/peer_runtime.cpp, whose adapters in JavaScript translate it.
#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include "core/base/function_ref.hpp"
#include "core/base/result.hpp"
#include "core/graph/graph.hpp"

namespace driftscope::peer {

/// Describes the location of bytes.
using Place = FunctionRef<nlohmann::json(std::span<const std::byte> bytes)>;

/// {"inputs":[name,…], "outputs":[name,…],
///  "values":{name:{"dtype","shape"?}},                   shape: where it is known before the run
///  "constants":{name:{"dtype","shape",…place(bytes)}},
///  "nodes":[{"name","op","domain"?,"opset","inputs":[name or null,…],"outputs":[…],
///            "attributes":{name:value}}]}
/// Nodes in an order in which they can run; attributes are numbers, texts or lists of these, tensors as
/// constants are. An error for graphs inside nodes, and for constants that cannot be read.
[[nodiscard]] Result<nlohmann::json> graph_json(const Graph& graph, Place place);

}  // namespace driftscope::peer
