// Softmax: dx = y·(dy − Σ y·dy); LogSoftmax: dx = dy − e^y·Σ dy. Before opset 13 over all axes from `axis`
// on.
#include "core/gradient/rule.hpp"

namespace driftscope {
namespace gradient_softmax {
namespace {

Result<Ints> summed_axes(NodeGradient& at) {
  DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.input(0)));
  const bool flattened = at.emit().opset() < 13;
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(at.node(), "axis", flattened ? 1 : -1));
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, sizes.size(), flattened));
  if (!flattened) return Ints{static_cast<std::int64_t>(axis)};
  Ints axes;
  for (std::size_t i = axis; i < sizes.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  return axes;
}

Status softmax(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(const Ints axes, summed_axes(at));
  const std::string sum = emit.reduce("ReduceSum", emit.mul(at.y(), at.dy()), axes, true);
  at.add(0, emit.mul(at.y(), emit.sub(at.dy(), sum)));
  return {};
}

Status log_softmax(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(const Ints axes, summed_axes(at));
  const std::string sum = emit.reduce("ReduceSum", at.dy(), axes, true);
  at.add(0, emit.sub(at.dy(), emit.mul(emit.node("Exp", {at.y()}), sum)));
  return {};
}

}  // namespace
}  // namespace gradient_softmax

namespace gradient_rules::softmax {

void add_to(GradientRuleTable& table) {
  table.add("Softmax", gradient_softmax::softmax);
  table.add("LogSoftmax", gradient_softmax::log_softmax);
}

}  // namespace gradient_rules::softmax

}  // namespace driftscope
