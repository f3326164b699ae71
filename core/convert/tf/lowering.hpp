// What the operators of operators/ see while a graph of ours becomes one of TensorFlow's: they read values
// in the order of axes that they need, make nodes, and give the values of their outputs. A value that is
// read in another order than it was made in is transposed once. Clients: from_onnx.cpp, operators/.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/convert/tf/axis_order.hpp"
#include "core/convert/tf/from_onnx.hpp"
#include "core/convert/tf/names.hpp"
#include "core/convert/tf/operator_table.hpp"
#include "core/graph/attributes.hpp"

namespace driftscope::tf {

using Inputs = std::vector<std::string>;
using Attributes = std::map<std::string, Attribute, std::less<>>;

class Lowering {
 public:
  /// `graph` has constants folded and every shape known. `wants_last`: by value, whether its readers prefer
  /// channels last.
  Lowering(const Graph& graph, const Dialect& dialect, std::vector<bool> wants_last);

  // ---- what operators ask

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] const Dialect& dialect() const { return dialect_; }
  [[nodiscard]] bool has(std::string_view op) const { return dialect_.has == nullptr || dialect_.has(op); }
  [[nodiscard]] static bool has_input(const OnnxNode& node, std::size_t i) {
    return i < node.inputs.size() && node.inputs[i] != no_value;
  }
  /// Whether anything reads it.
  [[nodiscard]] static bool has_output(const OnnxNode& node, std::size_t i) {
    return i < node.outputs.size() && node.outputs[i] != no_value;
  }
  /// Ours.
  [[nodiscard]] Shape shape(ValueId id) const { return *graph_.values[id].static_shape(); }
  [[nodiscard]] std::size_t rank(ValueId id) const { return graph_.values[id].shape->size(); }
  [[nodiscard]] DType dtype(ValueId id) const { return graph_.values[id].dtype; }
  /// The value of an initializer or folded node, else null.
  [[nodiscard]] const Tensor* constant(ValueId id) const;
  /// The value of an input that must be known while converting.
  [[nodiscard]] Result<const Tensor*> known(const OnnxNode& node, std::size_t input,
                                            std::string_view name) const;
  /// The order in which the value exists, or will if this is the first reader of an input of the graph; that
  /// of constants is ours.
  [[nodiscard]] Order order(ValueId id) const;
  /// Of a tensor made here.
  [[nodiscard]] const TensorInfo& info(const std::string& tensor) const {
    return lowered_.graph.tensors.at(tensor);
  }

  // ---- reading: names of tensors

  [[nodiscard]] Result<std::string> read(ValueId id, const Order& order = {});
  /// A tensor whose elements lie in memory as ours do, whatever its shape: for Reshape.
  [[nodiscard]] Result<std::string> read_memory(ValueId id);
  /// As an operand of elementwise operators on values of `rank` axes in this order: with as many axes,
  /// unless its own align already.
  [[nodiscard]] Result<std::string> read_broadcast(ValueId id, std::size_t rank, const Order& order);

  // ---- making constants

  /// A tensor of the runtime's; "<value>/<suffix>" is its name.
  [[nodiscard]] Result<std::string> constant(const Tensor& tensor, std::string_view suffix);
  /// int32, [values.size()]: a parameter of an operator, not an operand.
  [[nodiscard]] Result<std::string> ints(std::span<const std::int64_t> values, std::string_view suffix);
  /// int32, a scalar: a parameter.
  [[nodiscard]] Result<std::string> scalar_int(std::int64_t value, std::string_view suffix);
  /// A scalar of the runtime's type for `dtype`: a parameter.
  [[nodiscard]] Result<std::string> scalar(double value, DType dtype, std::string_view suffix);
  /// The same as an operand that an elementwise operator broadcasts; the same number is one constant.
  [[nodiscard]] std::string number(double value, DType dtype = DType::float32);
  /// A new constant that holds this value, in this order: weights that an operator rearranges.
  [[nodiscard]] Result<std::string> weights(ValueId id, const Tensor& arranged);

  // ---- making nodes

  /// A node between: "<value>/<suffix>". `shape`: of its output in the runtime.
  [[nodiscard]] std::string make(std::string_view suffix, std::string_view op, Inputs inputs,
                                 Attributes attributes, TensorInfo output);
  /// The same with several outputs.
  [[nodiscard]] std::vector<std::string> make_many(std::string_view suffix, std::string_view op,
                                                   Inputs inputs, Attributes attributes,
                                                   std::vector<TensorInfo> outputs);
  /// Frequent ones.
  [[nodiscard]] Result<std::string> reshape(std::string_view suffix, const std::string& tensor, Shape shape);
  [[nodiscard]] Result<std::string> transpose(std::string_view suffix, const std::string& tensor,
                                              const Order& permutation);
  /// An elementwise operator: broadcast shape, dtype of the first operand unless given.
  [[nodiscard]] std::string elementwise(std::string_view suffix, std::string_view op, Inputs inputs,
                                        DType dtype = DType::undefined);

  /// The node that makes this value, in this order; it has the value's name.
  [[nodiscard]] Status give(ValueId id, std::string_view op, Inputs inputs, Attributes attributes = {},
                            const Order& order = {});
  /// The same for a node with several outputs of ours, one for each of `ids` (no_value: not wanted).
  [[nodiscard]] Status give_all(std::span<const ValueId> ids, std::string_view op, Inputs inputs,
                                Attributes attributes, const Order& order = {});
  /// The value is this tensor, reshaped to its own shape in this order.
  [[nodiscard]] Status give_reshaped(ValueId id, const std::string& tensor, const Order& order = {});
  /// The value is this tensor, in this order.
  [[nodiscard]] Status give_same(ValueId id, const std::string& tensor, const Order& order = {}) {
    return give(id, "Identity", {tensor}, {}, order);
  }
  /// Of a tensor made here.
  void set_quantization(const std::string& tensor, Quantization quantization) {
    lowered_.graph.tensors.at(tensor).quantization = std::move(quantization);
  }
  /// The node made last.
  [[nodiscard]] const Node& latest() const { return lowered_.graph.nodes.back(); }
  void fact(std::string name, std::string text) { lowered_.facts[std::move(name)] = std::move(text); }

  // ---- for from_onnx.cpp

  /// Nodes made from now on belong to this one.
  void begin(const OnnxNode& node);
  /// Why the nodes since then cannot be used.
  [[nodiscard]] const Status& status() const { return status_; }
  /// Where the value is; of inputs that nothing read as well.
  [[nodiscard]] Result<convert::PlacedValue> place(ValueId id);
  /// A node that copies a constant: an output that no node makes.
  [[nodiscard]] Result<convert::PlacedValue> place_copy(ValueId id);
  [[nodiscard]] const std::string& input_name(ValueId id) const { return value_names_[id]; }
  [[nodiscard]] Lowered take() { return std::move(lowered_); }

 private:
  struct Form {
    Order order;
    std::string tensor;
  };

  [[nodiscard]] Result<std::string> add_constant(const Tensor& tensor, std::string name);
  [[nodiscard]] Status add_input(ValueId id, const Order& order);
  [[nodiscard]] Result<std::string> converted(ValueId id, const Form& from, const Order& order);
  void add(Node node, std::vector<TensorInfo> outputs);
  [[nodiscard]] std::string named(std::string_view suffix);

  const Graph& graph_;
  const Dialect& dialect_;
  std::vector<bool> wants_last_;
  Names names_;
  std::vector<std::string> value_names_;
  std::vector<std::vector<Form>> forms_;  // by value; the first is the one it was made in
  const OnnxNode* node_ = nullptr;
  std::string stem_;
  std::map<std::pair<DType, std::uint64_t>, std::string> numbers_;
  std::map<std::vector<std::int64_t>, std::string> vectors_;
  Status status_;
  Lowered lowered_;
};

/// The runtime's type for ours; an error names both.
[[nodiscard]] Result<DType> runtime_type(const Dialect& dialect, DType dtype);

}  // namespace driftscope::tf
