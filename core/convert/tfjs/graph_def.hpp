// A graph of TensorFlow's operators as a GraphDef in JSON (protobuf's mapping; strings are base64), as
// TensorFlow.js reads it. Client: convert.cpp.
#pragma once

#include <nlohmann/json.hpp>

#include "core/convert/tf/tf_graph.hpp"

namespace driftscope::convert::tfjs {

/// {"node": […], "versions": …}: placeholders, constants, then the nodes.
[[nodiscard]] nlohmann::json graph_def(const tf::TfGraph& graph);

/// {"name": {"name": "name:0", "dtype": …, "tensorShape": …}} of these tensors.
[[nodiscard]] nlohmann::json signature_of(const tf::TfGraph& graph, const std::vector<std::string>& tensors);

}  // namespace driftscope::convert::tfjs
