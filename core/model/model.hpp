// An ONNX model as it is in the file: names, not yet a graph. Made by onnx_reader (which inlines the model's
// own functions), consumed by graph/build. Nothing is checked against operators here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/shared_list.hpp"
#include "core/model/model_note.hpp"
#include "core/model/tensor.hpp"

namespace driftscope {

struct ModelGraph;

/// One AttributeProto. Subgraphs are shared, so that nodes can be copied. No value (monostate): a
/// sparse tensor or a type, which are not read.
struct Attribute {
  using Value = std::variant<std::monostate, float, std::int64_t, std::string, Tensor,
                             std::shared_ptr<const ModelGraph>, std::vector<float>, std::vector<std::int64_t>,
                             std::vector<std::string>, std::vector<Tensor>,
                             std::vector<std::shared_ptr<const ModelGraph>>>;
  std::string name;
  Value value;
  /// In the body of a function: the function attribute that provides the value. Empty once the
  /// function is inlined.
  std::string reference = {};
};

struct ModelNode {
  std::string name;  ///< may be empty
  std::string op_type;
  std::string domain;               ///< "" is the ONNX domain ("ai.onnx" is read as "")
  std::vector<std::string> inputs;  ///< "" stands for an omitted optional input
  std::vector<std::string> outputs;
  SharedList<Attribute> attributes;
  std::string overload = {};  ///< of a function that the model defines
  /// Version of the node's domain if it differs from the model's: in inlined functions.
  std::int64_t opset = 0;
};

/// One dimension: a size, or a symbol such as "N", or (size −1, no symbol) unknown.
struct Dimension {
  std::int64_t size = -1;
  std::string symbol;
  [[nodiscard]] bool known() const { return size >= 0; }
  bool operator==(const Dimension&) const = default;
};
using SymbolicShape = std::vector<Dimension>;

/// "Nx1x28x28", "?" for an unknown dimension.
[[nodiscard]] std::string shape_text(const SymbolicShape& shape);

struct ValueInfo {
  std::string name;
  DType dtype = DType::undefined;      ///< undefined when the file does not say
  std::optional<SymbolicShape> shape;  ///< nothing when even the rank is unknown
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// An initializer that is valid but cannot be held (strings, 8-bit floats): an error where it is used.
struct UnsupportedTensor {
  std::string name;
  std::string reason;
};

struct ModelGraph {
  std::string name;
  std::vector<ModelNode> nodes;  ///< in file order
  std::vector<NamedTensor> initializers;
  std::vector<UnsupportedTensor> unsupported_initializers;
  std::vector<ValueInfo> inputs;  ///< may repeat initializers (IR version 3)
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> value_infos;
  /// Outputs that are no tensors (sequences, maps) or of types unknown here: by name, with their type. They
  /// are not among `outputs`.
  std::vector<UnsupportedTensor> other_outputs;
};

struct Model {
  std::int64_t ir_version = 0;
  std::string producer;                        ///< "pytorch 2.4", may be empty
  std::map<std::string, std::int64_t> opsets;  ///< domain → version; "" is ONNX's own
  ModelGraph graph;
  std::vector<ModelNote> notes;  ///< what the reader itself let pass
  std::string sha256;            ///< of the .onnx file's bytes (external data not included)
};

}  // namespace driftscope
