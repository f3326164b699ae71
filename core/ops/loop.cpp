// Loop, opset 1 to 21: its body runs while the condition holds and the trip count is not reached; carried
// values may change their shape, collected ones are stacked along a new first axis. Limits on the
// iterations and on the size of both end a loop that would not terminate.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <limits>

#include "core/ops/shared/control_flow.hpp"
#include "core/ops/shared/indices.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::loop {

// Inputs and outputs: M and cond before the carried values, the collected ones after them.
constexpr std::size_t first_carried_input = 2;

std::size_t carried_count(const Node& node) {
  return node.inputs.size() < first_carried_input ? 0 : node.inputs.size() - first_carried_input;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  const Node& node = context.node();
  const std::size_t count = carried_count(node);
  if (node.outputs.size() < count)
    return bad_input(fmt::format("{} outputs for {} carried values", node.outputs.size(), count));
  std::vector<TensorType> outputs(node.outputs.size());
  if (context.subgraphs() == nullptr) return outputs;
  std::vector<TensorType> carried;
  for (std::size_t i = 0; i < count; ++i) carried.push_back(context.input(first_carried_input + i));
  const std::vector<TensorType> before = {{DType::int64, SymbolicShape{}}, {DType::boolean, SymbolicShape{}}};
  const auto body = infer_body(*context.subgraphs(), before, carried, {}, 1, node.outputs.size() + 1);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (i < count) {
      outputs[i] = carried[i];
      continue;
    }
    outputs[i] = body[i + 1];
    if (outputs[i].shape) outputs[i].shape->insert(outputs[i].shape->begin(), Dimension{});
  }
  return outputs;
}

Status check_growth(std::int64_t bytes, std::string_view what) {
  if (bytes <= max_loop_bytes) return {};
  return limit_error(
      fmt::format("what the loop {} has grown beyond {} GiB, the limit", what, max_loop_bytes >> 30));
}

struct Loop {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const std::size_t count = carried_count(context.node());
    std::int64_t trips = std::numeric_limits<std::int64_t>::max();
    bool condition = true;
    if (context.has_input(0)) {
      DRIFTSCOPE_CHECK(expect_certain(context, 0, "M"));
      DRIFTSCOPE_TRY(trips, single_integer(context.tensor(0), 0, "M"));
    }
    if (context.has_input(1)) {
      DRIFTSCOPE_TRY(condition, condition_of(context.pass_input(1), "input 1 (cond)"));
    }
    DRIFTSCOPE_TRY(const auto body, context.subgraph("body"));
    const std::size_t made = context.output_count() + 1;  // including the condition
    if (body->graph().outputs.size() != made)
      return bad_input(
          fmt::format("body: expected {} outputs, a condition and those of the node, got "
                      "{}",
                      made, body->graph().outputs.size()));
    std::vector<Evaluated<S>> carried;
    for (std::size_t i = 0; i < count; ++i) {
      if (!context.has_input(first_carried_input + i))
        return bad_input(
            fmt::format("input {}: a carried value is required but omitted", first_carried_input + i));
      carried.push_back(context.pass_input(first_carried_input + i));
    }
    std::vector<std::vector<Evaluated<S>>> collected(context.output_count() - count);
    std::int64_t collected_bytes = 0;
    IterationScope iterations;
    for (std::int64_t i = 0; i < trips && condition; ++i) {
      DRIFTSCOPE_CHECK(iterations.next());
      std::vector<Evaluated<S>> inputs(2);
      DRIFTSCOPE_TRY(inputs[0], scalar_value<S>(i));
      DRIFTSCOPE_TRY(inputs[1], scalar_value<S>(condition));
      for (Evaluated<S>& value : carried) inputs.push_back(std::move(value));
      DRIFTSCOPE_TRY(auto outputs, body->run(std::move(inputs)));
      DRIFTSCOPE_TRY(condition, condition_of(outputs[0], "output 0 of the body (the condition)"));
      std::int64_t carried_bytes = 0;
      for (std::size_t o = 1; o < outputs.size(); ++o) {
        const std::int64_t bytes = byte_size(outputs[o]);
        if (o <= count) {
          carried_bytes += bytes;
          carried[o - 1] = std::move(outputs[o]);
        } else {
          // Even an empty element counts, since its descriptor takes memory.
          collected_bytes += std::max<std::int64_t>(bytes, 64);
          if (context.wants_output(o - 1)) collected[o - 1 - count].push_back(std::move(outputs[o]));
        }
      }
      DRIFTSCOPE_CHECK(check_growth(carried_bytes, "carries"));
      DRIFTSCOPE_CHECK(check_growth(collected_bytes, "collects"));
    }
    for (std::size_t o = 0; o < context.output_count(); ++o) {
      if (!context.wants_output(o)) continue;
      if (o < count) {
        DRIFTSCOPE_CHECK(context.give_output(o, std::move(carried[o])));
        continue;
      }
      const Value& type = body->graph().values[body->graph().outputs[o + 1]];
      DRIFTSCOPE_TRY(auto whole, stack<S>(collected[o - count], 0, type));
      DRIFTSCOPE_CHECK(context.give_output(o, std::move(whole)));
    }
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Loop>(
      {.op_type = "Loop", .inputs = {0, variadic}, .outputs = {1, variadic}, .infer = infer}));
}

}  // namespace driftscope::ops::loop
