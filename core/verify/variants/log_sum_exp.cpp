// Logarithms of sums of exponentials from whose arguments no maximum was subtracted: ∞ where a sum leaves the
// range of float32, −∞ where all its terms are 0.
// Compiled for size on the web (cmake/core.cmake).
#include <cmath>
#include <memory>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/reduction.hpp"
#include "core/verify/variant.hpp"

namespace driftscope::variants::log_sum_exp {
namespace {

constexpr int axes_are_inputs_from = 18;  // of ReduceLogSumExp

std::optional<std::vector<bool>> summed_axes(const Node& node, const DerivationInputs& inputs,
                                             std::size_t rank) {
  std::vector<bool> marked(rank, false);
  if (node.op_type == "LogSoftmax") {
    const auto given = int_attribute(node, "axis", -1);
    if (!given.ok() || node.opset < 13) return std::nullopt;  // before, all axes from that one on
    const std::int64_t axis = *given < 0 ? *given + static_cast<std::int64_t>(rank) : *given;
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return std::nullopt;
    marked[static_cast<std::size_t>(axis)] = true;
    return marked;
  }
  const Tensor* const given = inputs.tensor(1);
  const auto axes = read_axes(node, given, given != nullptr, node.opset >= axes_are_inputs_from, rank);
  if (!axes.ok() || !*axes) return std::nullopt;
  for (const std::size_t axis : **axes) marked[axis] = true;
  if ((*axes)->empty()) marked.assign(rank, true);
  return marked;
}

std::vector<Candidate> candidates(const LayerCase& layer) {
  const DerivationInputs* const inputs = layer.known_inputs();
  if (inputs == nullptr || inputs->tensors.empty() || inputs->tensors[0].dtype() != DType::float32) return {};
  const Tensor& x = inputs->tensors[0];
  const auto axes = summed_axes(layer.node(), *inputs, x.shape().size());
  if (!axes) return {};
  const ReducedLanes lanes(x.shape(), *axes);
  const bool keeps = layer.got.shape() == x.shape();
  const bool is_log_softmax = layer.node().op_type == "LogSoftmax";
  if (is_log_softmax ? !keeps : layer.got.elements() != lanes.count()) return {};

  const auto elements = static_cast<std::size_t>(layer.got.elements());
  auto sources = std::make_shared<std::vector<std::int64_t>>(elements);
  bool any = false;
  std::vector<float> scratch;
  for (std::int64_t lane = 0; lane < lanes.count(); ++lane) {
    float sum = 0.0f;
    for (const float value : lanes.lane(x.values<float>(), lane, scratch)) sum += std::exp(value);
    const bool high = std::isinf(sum), low = sum == 0.0f;
    any = any || high || low;
    const auto mark = [&](std::int64_t i, bool positive) {
      (*sources)[static_cast<std::size_t>(i)] = !high && !low ? i
                                                : positive    ? source_infinity
                                                              : source_negative_infinity;
    };
    // x − log Σ of LogSoftmax has the opposite sign.
    if (!is_log_softmax)
      mark(lane, high);
    else
      for (std::int64_t i = 0; i < lanes.size(); ++i) mark(lanes.base(lane) + lanes.offset(i), low);
  }
  if (!any) return {};
  return {{.source = [sources](std::int64_t i) { return (*sources)[static_cast<std::size_t>(i)]; }}};
}

}  // namespace

void add_to(VariantTable& table) {
  table.add({.kind = VariantKind::faulty,
             .family = "activation",
             .id = "log_sum_without_maximum",
             .name = "the maximum not subtracted before exp",
             .operators = {"ReduceLogSumExp", "LogSoftmax"},
             .order = 9,
             .candidates = candidates});
}

}  // namespace driftscope::variants::log_sum_exp
