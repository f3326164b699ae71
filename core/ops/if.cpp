// If, opset 1 to 21: one of two graphs runs. Their outputs may differ in shape.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/ops/shared/control_flow.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::if_ {

constexpr std::string_view then_branch = "then_branch";
constexpr std::string_view else_branch = "else_branch";

Result<std::vector<TensorType>> infer(const InferContext& context) {
  const TensorType& condition = context.input(0);
  if (condition.dtype != DType::undefined && condition.dtype != DType::boolean)
    return bad_input(fmt::format("input 0 (cond): expected bool, got {}", dtype_name(condition.dtype)));
  const std::vector<TensorType> open(context.node().outputs.size());
  if (context.subgraphs() == nullptr) return open;
  // A branch that does not fit these shapes may never run: exporters write such branches.
  const auto types = [&](std::string_view branch) {
    auto result = context.subgraphs()->infer(branch, {});
    return result.ok() && result->size() == open.size() ? *std::move(result) : open;
  };
  const Tensor* known = context.constant(0);
  if (known != nullptr && known->elements() == 1)
    return types(known->bytes()[0] != std::byte{0} ? then_branch : else_branch);
  std::vector<TensorType> result = types(then_branch);
  const std::vector<TensorType> other = types(else_branch);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = common_type(result[i], other[i]);
  return result;
}

struct If {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const bool condition, condition_of(context.pass_input(0), "input 0 (cond)"));
    const std::string_view branch = condition ? then_branch : else_branch;
    DRIFTSCOPE_TRY(const auto graph, context.subgraph(branch));
    DRIFTSCOPE_TRY(auto values, graph->run({}));
    if (values.size() != context.output_count())
      return bad_input(fmt::format("{}: the graph has {} outputs, the node {}", branch, values.size(),
                                   context.output_count()));
    for (std::size_t o = 0; o < values.size(); ++o)
      if (context.wants_output(o)) DRIFTSCOPE_CHECK(context.give_output(o, std::move(values[o])));
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<If>({.op_type = "If", .inputs = {1, 1}, .outputs = {1, variadic}, .infer = infer}));
}

}  // namespace driftscope::ops::if_
