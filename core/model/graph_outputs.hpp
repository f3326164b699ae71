// Makes inner values of an ONNX model readable: the same bytes with more outputs in the graph. Everything
// else is unchanged, so that another runtime runs the user's model and not our reading of it.
// Client: engines/peer.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/tensor.hpp"

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

/// What an output says of itself, where a runtime does not infer it.
struct OutputType {
  DType dtype = DType::float32;
  Shape shape;
};

/// ModelProto with one more GraphProto.output per name, without a type unless `types` has one: most runtimes
/// infer it. The names are not looked up. Errors: damaged bytes, no graph, beyond max_protobuf_bytes.
[[nodiscard]] Result<std::vector<std::byte>> with_graph_outputs(
    std::span<const std::byte> model, std::span<const std::string> names,
    const std::map<std::string, OutputType>& types = {});

}  // namespace driftscope
