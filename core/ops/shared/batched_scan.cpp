#include "core/ops/shared/batched_scan.hpp"

namespace driftscope {

Result<BatchedScanPlan> read_batched_scan(const Node& node) {
  const auto inputs = static_cast<std::int64_t>(node.inputs.size()) - 1;
  DRIFTSCOPE_TRY(const std::int64_t scanned, int_attribute(node, "num_scan_inputs", 0));
  if (scanned < 1 || scanned > inputs)
    return bad_input(fmt::format("attribute num_scan_inputs: expected 1 to {}, got {}", inputs, scanned));
  BatchedScanPlan plan;
  plan.scanned = static_cast<std::size_t>(scanned);
  plan.states = static_cast<std::size_t>(inputs - scanned);
  if (node.outputs.size() < plan.states)
    return bad_input(fmt::format("{} outputs for {} states", node.outputs.size(), plan.states));
  DRIFTSCOPE_TRY(plan.directions, ints_attribute(node, "directions", Ints(plan.scanned, 0)));
  if (plan.directions.size() != plan.scanned)
    return bad_input(fmt::format("attribute directions: expected {} values, got {}", plan.scanned,
                                 plan.directions.size()));
  for (const std::int64_t direction : plan.directions)
    if (direction != 0 && direction != 1)
      return bad_input(fmt::format("attribute directions: expected 0 or 1, got {}", direction));
  return plan;
}

Result<std::vector<TensorType>> infer_batched_scan(const InferContext& context) {
  DRIFTSCOPE_TRY(const BatchedScanPlan plan, read_batched_scan(context.node()));
  std::vector<TensorType> outputs(context.node().outputs.size());
  if (context.subgraphs() == nullptr) return outputs;
  std::vector<TensorType> states;
  std::vector<TensorType> slices;
  Dimension batches;
  Dimension steps;
  // Takes the first axis off a type.
  const auto split = [](TensorType& type, Dimension& size, std::size_t input,
                        std::string_view what) -> Status {
    if (!type.shape) return {};
    if (type.shape->empty())
      return bad_input(fmt::format("input {}: expected an axis of {}, got a scalar", input, what));
    const auto both = unify(size, type.shape->front());
    if (!both)
      return bad_input(fmt::format("input {}: expected {} {} as the inputs before, got {}", input, size.size,
                                   what, type.shape->front().size));
    size = *both;
    type.shape->erase(type.shape->begin());
    return {};
  };
  for (std::size_t i = plan.first_state; i < context.input_count(); ++i) {
    TensorType type = context.input(i);
    DRIFTSCOPE_CHECK(split(type, batches, i, "batches"));
    if (!plan.is_state(i)) DRIFTSCOPE_CHECK(split(type, steps, i, "steps"));
    (plan.is_state(i) ? states : slices).push_back(std::move(type));
  }
  const auto body = infer_body(*context.subgraphs(), {}, states, slices, 0, outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outputs[i] = i < plan.states ? states[i] : body[i];
    if (!outputs[i].shape) continue;
    if (i >= plan.states) outputs[i].shape->insert(outputs[i].shape->begin(), steps);
    outputs[i].shape->insert(outputs[i].shape->begin(), batches);
  }
  return outputs;
}

}  // namespace driftscope
