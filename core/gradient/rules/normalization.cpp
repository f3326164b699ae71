// BatchNormalization with fixed statistics: dx = dy·scale/√(var + ε). Layer and instance normalization,
// with x̂ = (x − mean)/√(var + ε) and g = dy·scale: dx = (g − mean(g) − x̂·mean(g·x̂))/√(var + ε).
#include "core/gradient/rule.hpp"

namespace driftscope {
namespace gradient_normalization {
namespace {

Ints all_but_channels(std::size_t rank) {
  Ints axes;
  for (std::size_t i = 0; i < rank; ++i)
    if (i != 1) axes.push_back(static_cast<std::int64_t>(i));
  return axes;
}

// [C] as [1, C, 1, …].
std::string by_channel(GradientEmitter& emit, const std::string& x, std::size_t rank) {
  return emit.unsqueeze(x, all_but_channels(rank));
}

Status batch_normalization(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(const bool training, flag_attribute(at.node(), "training_mode", false));
  if (training) return at.unsupported_form("in training mode");
  if (at.wanted(3) || at.wanted(4)) return at.unsupported_form("with respect to the running statistics");
  DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.input(0)));
  DRIFTSCOPE_TRY(const float epsilon, float_attribute(at.node(), "epsilon", 1e-5f));
  const DType dtype = at.dtype();
  const std::string deviation =
      emit.node("Sqrt", {emit.add(at.x(4), emit.scalar(static_cast<double>(epsilon), dtype))});
  const std::size_t rank = sizes.size();
  if (at.wanted(0)) at.add(0, emit.mul(at.dy(), by_channel(emit, emit.div(at.x(1), deviation), rank)));
  const Ints axes = all_but_channels(rank);
  if (at.wanted(1)) {
    const std::string centred = emit.sub(at.x(0), by_channel(emit, at.x(3), rank));
    const std::string sum = emit.reduce("ReduceSum", emit.mul(at.dy(), centred), axes, false);
    at.add(1, emit.div(sum, deviation));
  }
  if (at.wanted(2)) at.add(2, emit.reduce("ReduceSum", at.dy(), axes, false));
  return {};
}

struct Normalized {
  std::string x;        ///< x̂
  std::string inverse;  ///< 1/√(var + ε)
};

Normalized normalized(NodeGradient& at, const std::string& x, const Ints& axes, float epsilon) {
  GradientEmitter& emit = at.emit();
  const std::string centred = emit.sub(x, emit.reduce("ReduceMean", x, axes, true));
  const std::string variance = emit.reduce("ReduceMean", emit.mul(centred, centred), axes, true);
  const std::string shifted = emit.add(variance, emit.scalar(static_cast<double>(epsilon), at.dtype()));
  const std::string inverse = emit.node("Reciprocal", {emit.node("Sqrt", {shifted})});
  return {emit.mul(centred, inverse), inverse};
}

std::string through(NodeGradient& at, const Normalized& of, const std::string& g, const Ints& axes) {
  GradientEmitter& emit = at.emit();
  const std::string mean = emit.reduce("ReduceMean", g, axes, true);
  const std::string along = emit.reduce("ReduceMean", emit.mul(g, of.x), axes, true);
  return emit.mul(of.inverse, emit.sub(emit.sub(g, mean), emit.mul(of.x, along)));
}

Status layer_normalization(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  for (std::size_t i = 1; i < at.node().outputs.size(); ++i)
    if (!at.dy(i).empty()) return at.unsupported_form("of its outputs Mean and InvStdDev");
  DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.input(0)));
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(at.node(), "axis", -1));
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, sizes.size()));
  DRIFTSCOPE_TRY(const float epsilon, float_attribute(at.node(), "epsilon", 1e-5f));
  Ints axes;
  for (std::size_t i = axis; i < sizes.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  const Normalized of = normalized(at, at.x(0), axes, epsilon);
  if (at.wanted(0)) at.add(0, through(at, of, emit.mul(at.dy(), at.x(1)), axes));
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    if (!at.wanted(i)) continue;
    DRIFTSCOPE_TRY(const SymbolicShape to, at.sizes(at.input(i)));
    DRIFTSCOPE_TRY(const std::string sum, at.sum_to(i == 1 ? emit.mul(at.dy(), of.x) : at.dy(), sizes, to));
    at.add(i, sum);
  }
  return {};
}

Status instance_normalization(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.input(0)));
  DRIFTSCOPE_TRY(const float epsilon, float_attribute(at.node(), "epsilon", 1e-5f));
  Ints axes;
  for (std::size_t i = 2; i < sizes.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  const Normalized of = normalized(at, at.x(0), axes, epsilon);
  const Ints summed = all_but_channels(sizes.size());
  if (at.wanted(0))
    at.add(0, through(at, of, emit.mul(at.dy(), by_channel(emit, at.x(1), sizes.size())), axes));
  if (at.wanted(1)) at.add(1, emit.reduce("ReduceSum", emit.mul(at.dy(), of.x), summed, false));
  if (at.wanted(2)) at.add(2, emit.reduce("ReduceSum", at.dy(), summed, false));
  return {};
}

}  // namespace
}  // namespace gradient_normalization

namespace gradient_rules::normalization {

void add_to(GradientRuleTable& table) {
  namespace rules = gradient_normalization;
  table.add("BatchNormalization", rules::batch_normalization);
  table.add("LayerNormalization", rules::layer_normalization);
  table.add("InstanceNormalization", rules::instance_normalization);
}

}  // namespace gradient_rules::normalization

}  // namespace driftscope
