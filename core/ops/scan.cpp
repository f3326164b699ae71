// Scan, opset 8 to 21: its body runs once for each slice of the scanned inputs, carries a state of fixed
// shape, and its other outputs are stacked along an axis. Directions and axes are attributes. Scan of
// opset 8 is another operator: batched_scan.hpp.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/batched_scan.hpp"
#include "core/ops/shared/control_flow.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::scan {

struct Plan {
  std::size_t states = 0;
  std::size_t scanned = 0;
  std::size_t stacked = 0;
  Ints input_axes, input_directions, output_axes, output_directions;
};

Result<Ints> read_list(const Node& node, std::string_view name, std::size_t count, bool flags) {
  DRIFTSCOPE_TRY(Ints list, ints_attribute(node, name, Ints(count, 0)));
  if (list.size() != count)
    return bad_input(fmt::format("attribute {}: expected {} values, got {}", name, count, list.size()));
  for (const std::int64_t x : list)
    if (flags && x != 0 && x != 1)
      return bad_input(fmt::format("attribute {}: expected 0 or 1, got {}", name, x));
  return list;
}

Result<Plan> read_plan(const Node& node) {
  const auto inputs = static_cast<std::int64_t>(node.inputs.size());
  DRIFTSCOPE_TRY(const std::int64_t scanned, int_attribute(node, "num_scan_inputs", 0));
  if (scanned < 1 || scanned > inputs)
    return bad_input(fmt::format("attribute num_scan_inputs: expected 1 to {}, got {}", inputs, scanned));
  Plan plan;
  plan.scanned = static_cast<std::size_t>(scanned);
  plan.states = node.inputs.size() - plan.scanned;
  if (node.outputs.size() < plan.states)
    return bad_input(fmt::format("{} outputs for {} states", node.outputs.size(), plan.states));
  plan.stacked = node.outputs.size() - plan.states;
  DRIFTSCOPE_TRY(plan.input_axes, read_list(node, "scan_input_axes", plan.scanned, false));
  DRIFTSCOPE_TRY(plan.input_directions, read_list(node, "scan_input_directions", plan.scanned, true));
  DRIFTSCOPE_TRY(plan.output_axes, read_list(node, "scan_output_axes", plan.stacked, false));
  DRIFTSCOPE_TRY(plan.output_directions, read_list(node, "scan_output_directions", plan.stacked, true));
  return plan;
}

Error lengths_differ(std::int64_t a, std::int64_t b) {
  return bad_input(
      fmt::format("the scanned inputs have {} and {} elements along their axes, expected "
                  "equally many",
                  a, b));
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  if (context.opset() < 9) return infer_batched_scan(context);
  DRIFTSCOPE_TRY(const Plan plan, read_plan(context.node()));
  std::vector<TensorType> outputs(context.node().outputs.size());
  if (context.subgraphs() == nullptr) return outputs;
  std::vector<TensorType> states;
  std::vector<TensorType> slices;
  Dimension length;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    TensorType type = context.input(i);
    if (i < plan.states) {
      states.push_back(std::move(type));
      continue;
    }
    if (type.shape) {
      DRIFTSCOPE_TRY(const std::size_t axis,
                     normalize_axis(plan.input_axes[i - plan.states], type.shape->size()));
      const auto place = type.shape->begin() + static_cast<std::ptrdiff_t>(axis);
      const auto both = unify(length, *place);
      if (!both) return lengths_differ(length.size, place->size);
      length = *both;
      type.shape->erase(place);
    }
    slices.push_back(std::move(type));
  }
  const auto body = infer_body(*context.subgraphs(), {}, states, slices, 0, context.node().outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outputs[i] = i < plan.states ? states[i] : body[i];
    if (i < plan.states || !outputs[i].shape) continue;
    DRIFTSCOPE_TRY(const std::size_t axis,
                   normalize_axis(plan.output_axes[i - plan.states], outputs[i].shape->size() + 1));
    outputs[i].shape->insert(outputs[i].shape->begin() + static_cast<std::ptrdiff_t>(axis), length);
  }
  return outputs;
}

template <class S>
struct Scanned {
  Evaluated<S> whole;
  std::size_t axis = 0;
  bool backwards = false;
};

struct Scan {
  template <class S>
  static Status run(KernelContext<S>& context) {
    if (context.opset() < 9) return BatchedScan<S>(context).run();
    DRIFTSCOPE_TRY(const Plan plan, read_plan(context.node()));
    DRIFTSCOPE_TRY(const auto body, context.subgraph("body"));
    if (body->graph().outputs.size() != context.output_count())
      return bad_input(fmt::format("body: expected {} outputs as the node has, got {}",
                                   context.output_count(), body->graph().outputs.size()));
    std::vector<Evaluated<S>> states;
    std::vector<Scanned<S>> scanned;
    std::int64_t length = -1;
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      if (!context.has_input(i)) return bad_input(fmt::format("input {}: omitted but required", i));
      if (i < plan.states) {
        states.push_back(context.pass_input(i));
        continue;
      }
      const std::size_t n = i - plan.states;
      const Shape& shape = context.shape(i);
      DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(plan.input_axes[n], shape.size()));
      if (length >= 0 && shape[axis] != length) return lengths_differ(length, shape[axis]);
      length = shape[axis];
      scanned.push_back({context.pass_input(i), axis, plan.input_directions[n] == 1});
    }
    std::vector<std::vector<Evaluated<S>>> stacked(plan.stacked);
    IterationScope iterations;
    for (std::int64_t t = 0; t < length; ++t) {
      DRIFTSCOPE_CHECK(iterations.next());
      std::vector<Evaluated<S>> inputs = std::move(states);
      for (const Scanned<S>& input : scanned) {
        DRIFTSCOPE_TRY(auto slice, slice_at(input.whole, input.axis, input.backwards ? length - 1 - t : t));
        inputs.push_back(std::move(slice));
      }
      DRIFTSCOPE_TRY(auto outputs, body->run(std::move(inputs)));
      states.clear();
      for (std::size_t o = 0; o < outputs.size(); ++o) {
        if (o < plan.states)
          states.push_back(std::move(outputs[o]));
        else if (context.wants_output(o))
          stacked[o - plan.states].push_back(std::move(outputs[o]));
      }
    }
    for (std::size_t o = 0; o < context.output_count(); ++o) {
      if (!context.wants_output(o)) continue;
      if (o < plan.states) {
        DRIFTSCOPE_CHECK(context.give_output(o, std::move(states[o])));
        continue;
      }
      const std::size_t n = o - plan.states;
      if (plan.output_directions[n] == 1) std::reverse(stacked[n].begin(), stacked[n].end());
      DRIFTSCOPE_TRY(auto whole, stack<S>(stacked[n], plan.output_axes[n],
                                          body->graph().values[body->graph().outputs[o]]));
      DRIFTSCOPE_CHECK(context.give_output(o, std::move(whole)));
    }
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Scan>({.op_type = "Scan",
                                .since = 8,
                                .inputs = {0, variadic},  // opset 8 may leave out the first
                                .outputs = {1, variadic},
                                .infer = infer}));
}

}  // namespace driftscope::ops::scan
