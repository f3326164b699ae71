// An operator: its schema, its shape rule, its reference kernels. One file per operator in this
// folder; the table is generated from the folder at configure time (each file FOO.cpp defines
// `void driftscope::ops::foo::add_to(OperatorTable&)`), never edited.
// Clients: infer_shapes, evaluate, engines. Faster kernels live with their engine.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/eval/kernel_context.hpp"
#include "core/eval/partial_values.hpp"
#include "core/graph/graph.hpp"

namespace driftscope {

/// What is known of a tensor before it is computed.
struct TensorType {
  DType dtype = DType::undefined;
  std::optional<SymbolicShape> shape;
};

/// Types through the subgraphs of a node.
class SubgraphTypes {
 public:
  virtual ~SubgraphTypes() = default;
  /// Types of the outputs of a subgraph for these types of its formal inputs.
  [[nodiscard]] virtual Result<std::vector<TensorType>> infer(std::string_view attribute,
                                                              std::span<const TensorType> inputs) = 0;
};

/// What a shape rule sees: types of the inputs (and, behind them, of captured values), and values where
/// they are constant.
class InferContext {
 public:
  InferContext(const Node& node, std::span<const TensorType> inputs, std::span<const Tensor* const> constants,
               SubgraphTypes* subgraphs = nullptr)
      : node_(node), inputs_(inputs), constants_(constants), subgraphs_(subgraphs) {}

  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] std::int64_t opset() const { return node_.opset; }
  [[nodiscard]] std::size_t input_count() const { return node_.inputs.size(); }
  [[nodiscard]] bool has_input(std::size_t i) const {
    return i < node_.inputs.size() && node_.inputs[i] != no_value;
  }
  [[nodiscard]] const TensorType& input(std::size_t i) const { return inputs_[i]; }
  /// The value of input i when it is known (always when the node is about to run), else null.
  [[nodiscard]] const Tensor* constant(std::size_t i) const { return constants_[i]; }
  /// The value of input i as far as it is known without being a constant: some of its elements may be
  /// sizes that are still symbols. Null if it is not a small integer vector or nothing is known.
  [[nodiscard]] const PartialVector* partial(std::size_t i) const {
    return i < partial_.size() ? partial_[i] : nullptr;
  }
  void set_partial(std::span<const PartialVector* const> partial) { partial_ = partial; }
  /// For control flow; null when the node is about to run: then the subgraphs themselves give the types.
  [[nodiscard]] SubgraphTypes* subgraphs() const { return subgraphs_; }

 private:
  const Node& node_;
  std::span<const TensorType> inputs_;
  std::span<const Tensor* const> constants_;
  SubgraphTypes* subgraphs_;
  std::span<const PartialVector* const> partial_;
};

/// Types of all outputs, as far as they follow from what is known. When every input shape (and every
/// value that the shape depends on) is known the result is complete; an error means that the node is
/// invalid: the message says which input, expected and got.
using ShapeRule = Result<std::vector<TensorType>> (*)(const InferContext&);

/// The elements of output 0 (int64) if they follow from the types of the inputs alone, an unknown
/// dimension as such: Shape of a value not computed yet. Nothing if even their number is unknown.
using DimensionsRule = Result<std::optional<SymbolicShape>> (*)(const InferContext&);

template <class S>
using ReferenceKernel = Status (*)(KernelContext<S>&);

struct Count {
  int min = 0;
  int max = 0;
};
inline constexpr int variadic = 1 << 30;

struct Operator {
  std::string_view op_type;
  std::string_view domain = "";
  std::int64_t since = 1;  ///< first opset whose semantics the kernel covers
  Count inputs;
  Count outputs;
  ShapeRule infer = nullptr;
  DimensionsRule dimensions = nullptr;  ///< most operators have none
  /// Every floating output element is one of the inputs' elements, 0 or a fixed number: without rounding,
  /// so that the strict kernel's results on exactly known inputs are the reference itself.
  bool exact_copy = false;
  /// The node reads its own output 0 step by step (recurrent states). Where an engine recorded it,
  /// the bound kernel starts each step from there.
  bool uses_recorded_state = false;
  ReferenceKernel<double> value_kernel = nullptr;
  ReferenceKernel<Bounded> bound_kernel = nullptr;
  ReferenceKernel<float> strict_kernel = nullptr;
};

/// Fills the three kernels from one template: `struct Conv { template <class S> static Status
/// run(KernelContext<S>&); };` → `with_kernels<Conv>({.op_type = "Conv", …})`.
template <class Kernel>
[[nodiscard]] constexpr Operator with_kernels(Operator op) {
  op.value_kernel = &Kernel::template run<double>;
  op.bound_kernel = &Kernel::template run<Bounded>;
  op.strict_kernel = &Kernel::template run<float>;
  return op;
}

class OperatorTable {
 public:
  void add(const Operator& op);
  [[nodiscard]] const Operator* find(std::string_view domain, std::string_view op_type) const;
  [[nodiscard]] std::vector<const Operator*> all() const;

 private:
  std::map<std::pair<std::string, std::string>, Operator> operators_;
};

/// All operators of this build (generated: build/generated/operator_registry.cpp).
[[nodiscard]] const OperatorTable& operators();

/// "node Conv_3 (Conv, opset 17)", for messages.
[[nodiscard]] std::string node_label(const Node& node);

/// "Conv", "com.microsoft.QGemm".
[[nodiscard]] std::string operator_text(const Node& node);

/// The operator of a node, or an unsupported error that names the node, the operator and the opset: of an
/// opaque one, too. The numbers of inputs and outputs are checked.
[[nodiscard]] Result<const Operator*> find_operator(const Node& node);

}  // namespace driftscope
