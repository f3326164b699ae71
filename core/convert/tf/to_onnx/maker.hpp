// What the families in operators/ see: they read tensors and constants, and make ONNX nodes. Clients:
// to_onnx.cpp, operators/.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/unique_names.hpp"
#include "core/convert/tf/tf_graph.hpp"
#include "core/model/model.hpp"

namespace driftscope::tf::to_onnx_parts {

using Names = std::vector<std::string>;
using OnnxAttributes = std::vector<driftscope::Attribute>;
using Numbers = std::vector<std::int64_t>;

/// Outputs of a node whose types are known.
inline constexpr std::size_t named_outputs = 8;

/// The opset that is written: the first with Gelu.
inline constexpr std::int64_t written_opset = 20;
inline constexpr std::int64_t opset_of_int16 = 21;  ///< since which it quantizes to int16

class Maker {
 public:
  explicit Maker(const TfGraph& graph);

  // ---- of the graph

  [[nodiscard]] const TfGraph& graph() const { return graph_; }
  /// Null where nothing is known of it.
  [[nodiscard]] const TensorInfo* info(std::string_view tensor) const;
  /// As the file says, else as it follows from the nodes before.
  [[nodiscard]] DType dtype(std::string_view tensor, DType otherwise = DType::float32) const;
  /// Nothing where it is not known or a dimension is open.
  [[nodiscard]] std::optional<Shape> shape(std::string_view tensor) const;
  [[nodiscard]] const Tensor* constant(std::string_view tensor) const;
  /// An error that says which input must be a constant.
  [[nodiscard]] Result<Numbers> known_integers(const Node& node, std::size_t input) const;
  [[nodiscard]] Result<std::string> input(const Node& node, std::size_t i) const;
  /// The same of an operator that TensorFlow.js computes in float32 whatever it reads.
  [[nodiscard]] Result<std::string> real_input(const Node& node, std::size_t i);

  // ---- ONNX nodes and constants

  /// A node between; the name of its output, "<node>/<suffix>".
  [[nodiscard]] std::string make(std::string_view suffix, std::string_view op, Names inputs,
                                 OnnxAttributes attributes = {});
  /// The same with several outputs.
  [[nodiscard]] Names make_all(std::string_view suffix, std::string_view op, Names inputs,
                               OnnxAttributes attributes, std::size_t count);
  /// The node that makes output `output` of the TensorFlow node under way.
  void give(std::string_view op, Names inputs, OnnxAttributes attributes = {}, std::size_t output = 0);
  /// All outputs, `count` of them.
  void give_all(std::string_view op, Names inputs, OnnxAttributes attributes, std::size_t count);

  /// A graph inside the node under way, as ONNX has it: what its inputs are is read from around it.
  [[nodiscard]] Result<std::shared_ptr<const ModelGraph>> branch(const TfGraph& graph, const Names& around);

  [[nodiscard]] std::string integers(const Numbers& values, std::string_view suffix = "numbers");
  [[nodiscard]] Result<std::string> scalar(double value, DType dtype, std::string_view suffix = "number");
  [[nodiscard]] std::string add_constant(Tensor tensor, std::string_view suffix);

  /// The tensor as int64, for ONNX's shapes, axes and sizes.
  [[nodiscard]] std::string as_int64(const std::string& tensor);
  [[nodiscard]] std::string transposed(const std::string& tensor, Numbers order, std::string_view suffix);
  /// NHWC → NCHW for `rank` axes, and the order back.
  [[nodiscard]] std::string channels_first(const std::string& tensor, std::size_t rank = 4);
  void give_channels_last(const std::string& tensor, std::size_t rank = 4, std::size_t output = 0);

  // ---- for to_onnx.cpp

  /// Nodes made from now on belong to this one; `real` says which of its tensors are read as real numbers.
  void begin(const Node& node);
  /// Those inside branches count.
  [[nodiscard]] std::size_t node_count() const { return inside_ + model_.graph.nodes.size(); }
  [[nodiscard]] Result<Model> take();
  [[nodiscard]] std::string output_name(const Node& node, std::size_t output) const;

 private:
  [[nodiscard]] std::string fresh(std::string_view name);
  void add(std::string_view op, Names inputs, Names outputs, OnnxAttributes attributes, std::string name);
  [[nodiscard]] bool is_quantized(std::string_view tensor) const;
  /// The real values of a quantized tensor.
  [[nodiscard]] std::string dequantized(const std::string& tensor);
  [[nodiscard]] Names scale_and_zero(const TensorInfo& info, std::string_view tensor);
  void quantize(const std::string& real, const std::string& tensor);

  const TfGraph& graph_;
  Model model_;
  UniqueNames taken_;
  std::map<std::string, std::string, std::less<>> real_;  // of quantized tensors
  std::map<std::string, DType, std::less<>> types_;       // of what nodes made
  const Node* node_ = nullptr;
  std::size_t made_ = 0;    // nodes of the one under way
  std::size_t inside_ = 0;  // nodes of branches
};

/// Nodes of all the graph's; the error names the node and says why.
[[nodiscard]] Status make_nodes(Maker& maker, const TfGraph& graph);

/// An attribute, or `otherwise` where the node lacks it.
template <class T>
[[nodiscard]] T attribute(const Node& node, std::string_view name, T otherwise) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return otherwise;
  const T* const value = std::get_if<T>(&found->second);
  return value == nullptr ? otherwise : *value;
}

[[nodiscard]] inline driftscope::Attribute of(std::string name, driftscope::Attribute::Value value) {
  return {std::move(name), std::move(value)};
}

/// An activation by its name as TensorFlow's fused operators have it ("Relu6"), between `tensor` and output
/// 0.
[[nodiscard]] Status give_activation(Maker& maker, const Node& node, std::string_view activation,
                                     const std::string& tensor);

using ConvertNode = Status (*)(Maker& maker, const Node& node);

struct Rule {
  ConvertNode convert = nullptr;
  bool keeps_quantized = false;  ///< deals with quantized tensors itself
};

class RuleTable {
 public:
  void add(std::string_view op, ConvertNode convert, bool keeps_quantized = false) {
    table_[std::string(op)] = {convert, keeps_quantized};
  }
  [[nodiscard]] const Rule* find(std::string_view op) const {
    const auto found = table_.find(op);
    return found == table_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, Rule, std::less<>> table_;
};

}  // namespace driftscope::tf::to_onnx_parts

namespace driftscope {

/// All operators that are read (generated: build/generated/to_onnx_registry.cpp).
[[nodiscard]] const tf::to_onnx_parts::RuleTable& to_onnx_rules();

}  // namespace driftscope
