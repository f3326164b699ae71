// What remains of If, Loop and Scan in a graph that unfold made (core/graph/unfold.hpp): their outputs are
// values that nodes before them made, or those of all iterations, stacked. No model contains them.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/control_flow.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::unfolded {

// Inputs: the values that are passed on, one for each of the first outputs; then for each stacked output its
// values, iteration after iteration.
struct Plan {
  std::size_t passed = 0;
  std::size_t count = 0;  // iterations
  Ints axes;              // of the stacked outputs
  Ints reversed;
};

Result<Plan> read_plan(const Node& node) {
  DRIFTSCOPE_TRY(const std::int64_t count, int_attribute(node, "iterations", 0));
  Plan plan;
  DRIFTSCOPE_TRY(plan.axes, ints_attribute(node, "axes", {}));
  DRIFTSCOPE_TRY(plan.reversed, ints_attribute(node, "reversed", Ints(plan.axes.size(), 0)));
  const std::size_t stacked = plan.axes.size();
  if (count < 0 || stacked > node.outputs.size() || plan.reversed.size() != stacked ||
      (stacked > 0 && static_cast<std::size_t>(count) > node.inputs.size() / stacked))
    return bad_input("attributes iterations, axes and reversed: they do not fit the node");
  plan.count = static_cast<std::size_t>(count);
  plan.passed = node.outputs.size() - stacked;
  if (node.inputs.size() != plan.passed + stacked * plan.count)
    return bad_input(
        fmt::format("expected {} inputs, got {}", plan.passed + stacked * plan.count, node.inputs.size()));
  return plan;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_TRY(const Plan plan, read_plan(context.node()));
  std::vector<TensorType> outputs(context.node().outputs.size());
  for (std::size_t i = 0; i < plan.passed; ++i)
    if (context.has_input(i)) outputs[i] = context.input(i);
  return outputs;
}

struct Unfolded {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const Plan plan, read_plan(context.node()));
    const auto required = [&](std::size_t i) -> Result<Evaluated<S>> {
      if (!context.has_input(i)) return bad_input(fmt::format("input {}: omitted but required", i));
      return context.pass_input(i);
    };
    for (std::size_t o = 0; o < context.output_count(); ++o) {
      if (!context.wants_output(o)) continue;
      if (o < plan.passed) {
        DRIFTSCOPE_TRY(auto value, required(o));
        DRIFTSCOPE_CHECK(context.give_output(o, std::move(value)));
        continue;
      }
      const std::size_t n = o - plan.passed;
      std::vector<Evaluated<S>> values;
      for (std::size_t i = 0; i < plan.count; ++i) {
        DRIFTSCOPE_TRY(auto value, required(plan.passed + n * plan.count + i));
        values.push_back(std::move(value));
      }
      if (plan.reversed[n] != 0) std::reverse(values.begin(), values.end());
      DRIFTSCOPE_TRY(auto whole, stack<S>(values, plan.axes[n], Value{}));
      DRIFTSCOPE_CHECK(context.give_output(o, std::move(whole)));
    }
    return {};
  }
};

void add_to(OperatorTable& table) {
  for (const std::string_view op : {"If", "Loop", "Scan"})
    table.add(with_kernels<Unfolded>({.op_type = op,
                                      .domain = "driftscope",
                                      .inputs = {0, variadic},
                                      .outputs = {1, variadic},
                                      .infer = infer,
                                      .exact_copy = true}));
}

}  // namespace driftscope::ops::unfolded
