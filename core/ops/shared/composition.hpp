// An operator that is several others, one after the other (ONNX Runtime's fused operators). Each part is
// evaluated with its own kernel and rule, so that values, bounds and messages are those of the parts; between
// them nothing is rounded to a narrower type. Clients: operators of the domain com.microsoft.
#pragma once

#include <deque>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/eval/evaluate.hpp"
#include "core/ops/shared/domains.hpp"

namespace driftscope {

template <class S>
class Composition {
 public:
  /// Null: omitted. Lives as long as the composition.
  using Value = const Evaluated<S>*;
  using Values = std::vector<Value>;

  explicit Composition(KernelContext<S>& context) : context_(context) {}

  [[nodiscard]] Value input(std::size_t i) {
    return context_.has_input(i) ? keep(context_.pass_input(i)) : nullptr;
  }

  /// A number of this floating type.
  [[nodiscard]] Value number(DType dtype, const S& x) { return keep({dtype, {}, {x}, {}}); }
  [[nodiscard]] Value keep(Evaluated<S> value) {
    values_.push_back(std::move(value));
    return &values_.back();
  }
  /// A vector of int64.
  [[nodiscard]] Result<Value> integers(const std::vector<std::int64_t>& list) {
    DRIFTSCOPE_TRY(const Tensor tensor,
                   Tensor::from_values<std::int64_t>({static_cast<std::int64_t>(list.size())}, list));
    return keep(known<S>(tensor));
  }

  /// All outputs of an operator of ONNX's domain.
  [[nodiscard]] Result<Values> all(std::string_view op_type, Values inputs,
                                   const std::vector<Attribute>& attributes = {}, std::size_t outputs = 1,
                                   std::int64_t opset = 21) {
    while (!inputs.empty() && inputs.back() == nullptr) inputs.pop_back();
    Node node{.name = context_.node().name,
              .op_type = std::string(op_type),
              .domain = "",
              .inputs = {},
              .outputs = {},
              .attributes = attributes,
              .subgraphs = {},
              .captured = {}};
    node.opset = opset;
    ValueId next = 0;
    for (const Value value : inputs) node.inputs.push_back(value == nullptr ? no_value : next++);
    for (std::size_t o = 0; o < outputs; ++o) node.outputs.push_back(next++);
    DRIFTSCOPE_TRY(std::vector<Evaluated<S>> made, evaluate<S>(node, inputs, context_.pool()));
    Values results;
    for (Evaluated<S>& value : made) results.push_back(keep(std::move(value)));
    return results;
  }
  /// Its first output.
  [[nodiscard]] Result<Value> one(std::string_view op_type, Values inputs,
                                  const std::vector<Attribute>& attributes = {}, std::int64_t opset = 21) {
    DRIFTSCOPE_TRY(const Values made, all(op_type, std::move(inputs), attributes, 1, opset));
    return made[0];
  }

  /// The elements of a floating value.
  [[nodiscard]] std::vector<S> elements(Value value) const {
    if (!is_known(*value)) return value->real;
    return lift_values<S>(value->tensor);
  }

  /// Makes the value an output of the node, if the node has it.
  [[nodiscard]] Status give(std::size_t output, Value value) {
    if (!context_.wants_output(output)) return {};
    if (!is_floating(value->dtype)) return context_.give_output(output, *value);
    if (context_.output_dtype(output) == DType::undefined)
      DRIFTSCOPE_CHECK(context_.allocate_output(output, value->dtype, value->shape));
    const std::vector<S> from = elements(value);
    const std::span<S> to = context_.real_output(output);
    if (from.size() != to.size()) return internal_error("a composed operator made another shape");
    std::copy(from.begin(), from.end(), to.begin());
    return {};
  }

 private:
  KernelContext<S>& context_;
  std::deque<Evaluated<S>> values_;
};

/// Of the domain com.microsoft, with one output; Kernel has `infer` beside its kernels.
template <class Kernel>
void add_composed(OperatorTable& table, std::string_view op_type, Count inputs) {
  table.add(with_kernels<Kernel>({.op_type = op_type,
                                  .domain = microsoft_domain,
                                  .inputs = inputs,
                                  .outputs = {1, 1},
                                  .infer = Kernel::infer}));
}

}  // namespace driftscope
