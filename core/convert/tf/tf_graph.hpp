// A graph of TensorFlow's operators, channels last: what TensorFlow.js and TensorFlow Lite have in common.
// Made by from_onnx (core/convert/tf/from_onnx.hpp) and by the readers of both formats; written by
// core/convert/tfjs and core/convert/tflite. Operators have the names and attributes of TensorFlow's registry
// ("Conv2D", "strides"), whichever format a graph comes from or goes to.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/model/tensor.hpp"

namespace driftscope::tf {

/// A shape among attributes; std::vector<std::int64_t> is list(int).
struct ShapeAttribute {
  Shape shape;
  bool operator==(const ShapeAttribute&) const = default;
};

/// An attribute: bool, int, float, string, type, shape, list(int), list(float), list(string).
using Attribute = std::variant<bool, std::int64_t, float, std::string, DType, ShapeAttribute,
                               std::vector<std::int64_t>, std::vector<float>, std::vector<std::string>>;

/// real = (integer − zero_point)·scale, one scale for all or one for each index of `axis`.
struct Quantization {
  std::vector<float> scales;
  std::vector<std::int64_t> zero_points;
  std::int64_t axis = 0;
};

struct TensorInfo {
  DType dtype = DType::float32;
  Shape shape;                     ///< as the runtime has it: NHWC
  Quantization quantization = {};  ///< TensorFlow Lite only; no scales: not quantized
};

struct TfGraph;

struct Node {
  std::string name;                 ///< unique; output 0 has this name, output k "name:k"
  std::string op;                   ///< "Conv2D"
  std::vector<std::string> inputs;  ///< of outputs of nodes, of constants and of inputs
  std::map<std::string, Attribute, std::less<>> attributes;
  std::string source;  ///< label of the ONNX node it was made for; several nodes may share one
  /// Of If: what runs where input 0 is true, and where not. Their inputs are the node's inputs behind it, in
  /// order; no name occurs twice in all graphs of a model.
  std::vector<std::shared_ptr<const TfGraph>> branches = {};
};

/// In an order in which the nodes can run.
struct TfGraph {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<Node> nodes;
  std::map<std::string, Tensor, std::less<>> constants;
  std::map<std::string, TensorInfo, std::less<>> tensors;  ///< of every input, constant and output of a node

  /// `wanted`, with "_" behind it as often as needed for no tensor to have the name.
  [[nodiscard]] std::string unused_name(std::string wanted) const {
    while (tensors.contains(wanted)) wanted += "_";
    return wanted;
  }
};

/// What a format can express; operators it lacks are composed of other operators.
struct Dialect {
  std::string_view name;           ///< "TensorFlow.js", for messages
  bool explicit_paddings = false;  ///< convolutions take "explicit_paddings", else a Pad precedes them
  bool fully_connected = false;    ///< has FullyConnected: weights [out, in], bias
  bool quantized = false;          ///< integer kernels on tensors with a Quantization
  bool int64 = false;              ///< has int64, else int32 where the values fit
  std::size_t max_rank = 6;
  /// Whether it has this operator.
  bool (*has)(std::string_view op) = nullptr;
};

}  // namespace driftscope::tf
