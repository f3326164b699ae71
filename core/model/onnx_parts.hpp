// The parts of the ONNX reader, one function per kind of message; field numbers are those of
// onnx.proto (IR version 10). Clients: the files onnx_*.cpp only.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/byte_source.hpp"
#include "core/base/result.hpp"
#include "core/model/model.hpp"
#include "core/model/onnx_reader.hpp"

namespace driftscope {

/// Graphs inside attributes (If, Loop, Scan) may nest this deep.
inline constexpr int max_subgraph_depth = 16;

/// What the readers pass down: where external data comes from, how deeply the graph is nested.
struct ReadContext {
  const ExternalData& external_data;
  int depth = 0;
  const ByteSource* model = nullptr;  ///< the file that own_bytes_location refers to; null: an error
  bool defer = false;                 ///< such data is read on first use
};

/// The error for a message beyond max_protobuf_bytes.
[[nodiscard]] Error protobuf_too_large(std::string_view what);

/// TensorProto. On an error `out.name` is filled all the same, where the message has one; a tensor
/// that is valid but cannot be held here (strings, 8-bit floats) is an unsupported error.
[[nodiscard]] Status read_tensor(std::string_view message, const ReadContext& context, NamedTensor& out);

/// AttributeProto.
[[nodiscard]] Result<Attribute> read_attribute(std::string_view message, const ReadContext& context);

/// ValueInfoProto. A type that is not a tensor (sequence, map, optional) leaves dtype and shape open and
/// is named in `other_type`.
[[nodiscard]] Result<ValueInfo> read_value_info(std::string_view message, std::string& other_type);

/// NodeProto; `index` is its place, for messages.
[[nodiscard]] Result<ModelNode> read_node(std::string_view message, std::size_t index,
                                          const ReadContext& context);

/// OperatorSetIdProto, into a map from domain to version. A domain with another version than before is noted,
/// or without `notes` an error.
[[nodiscard]] Status read_opset(std::string_view message, std::map<std::string, std::int64_t>& opsets,
                                std::vector<ModelNote>* notes = nullptr);
/// ONNX's own opset among them, if any, is one that there is.
[[nodiscard]] Status check_opset(const std::map<std::string, std::int64_t>& opsets);

/// A function that the model defines: FunctionProto.
struct ModelFunction {
  std::string name;
  std::string domain;
  std::string overload;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<Attribute> defaults;  ///< attributes that a call may leave out
  std::vector<ModelNode> nodes;
  std::map<std::string, std::int64_t> opsets;
};
[[nodiscard]] Result<ModelFunction> read_function(std::string_view message, const ReadContext& context);

/// Replaces every call of one of these functions by its body, in graphs inside the graph as well.
/// Errors: a function that calls itself, a function defined twice, more than max_inlined_nodes, nodes and
/// names that take more than max_inlined_bytes or half of what tensors may still take (alive_tensors.hpp).
[[nodiscard]] Status inline_functions(const std::vector<ModelFunction>& functions, Model& model);
inline constexpr std::size_t max_inlined_nodes = 250'000;
inline constexpr std::int64_t max_inlined_bytes = std::int64_t{1} << 29;

/// GraphProto.
[[nodiscard]] Result<ModelGraph> read_graph(std::string_view message, const ReadContext& context);

}  // namespace driftscope
