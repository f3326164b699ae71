// Makes inner values of an ONNX model readable: the same bytes with more outputs in the graph. Everything
// else is unchanged, so that another runtime runs the user's model and not our reading of it.
// Client: engines/peer.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

/// A node of the outermost graph, as far as choosing outputs needs it.
struct OutlineNode {
  std::string name;
  std::string op_type;
  std::string domain;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;  ///< "" for an omitted one
};

struct ModelOutline {
  std::vector<OutlineNode> nodes;
  std::vector<std::string> outputs;  ///< of the graph
};

[[nodiscard]] Result<ModelOutline> outline_model(std::span<const std::byte> model);

/// ModelProto with one more GraphProto.output per name, without a type: the runtime infers it.
/// The names are not looked up. Errors: damaged bytes, no graph, beyond max_protobuf_bytes.
[[nodiscard]] Result<std::vector<std::byte>> with_graph_outputs(std::span<const std::byte> model,
                                                                std::span<const std::string> names);

}  // namespace driftscope
