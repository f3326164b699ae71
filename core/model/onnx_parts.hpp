// The parts of the ONNX reader, one function per kind of message; field numbers are those of
// onnx.proto (IR version 10). Clients: the files onnx_*.cpp only.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/model/model.hpp"
#include "core/model/onnx_reader.hpp"

namespace driftscope {

/// Graphs inside attributes (If, Loop, Scan) may nest this deep.
inline constexpr int max_subgraph_depth = 16;

/// What the readers hand down: where external data comes from, how deep the graph lies.
struct ReadContext {
  const ExternalData& external_data;
  int depth = 0;
};

/// The error for a message beyond max_protobuf_bytes.
[[nodiscard]] Error protobuf_too_large(std::string_view what);

/// TensorProto. On an error `out.name` is filled all the same, where the message has one; a tensor
/// that is valid but cannot be held here (strings, 8-bit floats) is an unsupported error.
[[nodiscard]] Status read_tensor(std::string_view message, const ReadContext& context,
                                 NamedTensor& out);

/// AttributeProto.
[[nodiscard]] Result<Attribute> read_attribute(std::string_view message, const ReadContext& context);

/// ValueInfoProto. A type that is no tensor (sequence, map, optional) leaves dtype and shape open and
/// is named in `other_type`.
[[nodiscard]] Result<ValueInfo> read_value_info(std::string_view message, std::string& other_type);

/// GraphProto.
[[nodiscard]] Result<ModelGraph> read_graph(std::string_view message, const ReadContext& context);

}  // namespace driftscope
