// BatchNormalization with fixed statistics: dx = dy·scale/√(var + ε). Layer and instance normalization,
// with x̂ = (x − mean)/√(var + ε) and g = dy·scale: dx = (g − mean(g) − x̂·mean(g·x̂))/√(var + ε). Groups are
// laid out as [N, groups, rest].
#include <algorithm>

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

Status group_normalization(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.input(0)));
  DRIFTSCOPE_TRY(const float epsilon, float_attribute(at.node(), "epsilon", 1e-5f));
  DRIFTSCOPE_TRY(const std::int64_t groups, int_attribute(at.node(), "num_groups", 1));
  const bool by_group = at.node().opset < 21;  // scale and bias have one number a group
  const std::size_t rank = sizes.size();
  const auto grouped = [&](const std::string& x) { return emit.reshape(x, {0, groups, -1}); };
  const auto back = [&](const std::string& x) { return emit.node("Reshape", {x, at.shape_of_input(0)}); };
  const Normalized of = normalized(at, grouped(at.x(0)), {2}, epsilon);
  const std::string dy = by_group ? grouped(at.dy()) : at.dy();
  const std::size_t scaled_rank = by_group ? 3 : rank;
  if (at.wanted(0)) {
    const std::string g = emit.mul(dy, by_channel(emit, at.x(1), scaled_rank));
    at.add(0, back(through(at, of, by_group ? g : grouped(g), {2})));
  }
  const Ints summed = all_but_channels(scaled_rank);
  if (at.wanted(1))
    at.add(1, emit.reduce("ReduceSum", emit.mul(dy, by_group ? of.x : back(of.x)), summed, false));
  if (at.wanted(2)) at.add(2, emit.reduce("ReduceSum", dy, summed, false));
  return {};
}

// Its ε, 10⁻⁹ beside √var, does not count.
Status mean_variance_normalization(NodeGradient& at) {
  DRIFTSCOPE_TRY(const Ints given, ints_attribute(at.node(), "axes", {0, 2, 3}));
  DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.input(0)));
  Ints axes;
  for (const std::int64_t one : given) {
    DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(one, sizes.size()));
    axes.push_back(static_cast<std::int64_t>(axis));
  }
  at.add(0, through(at, normalized(at, at.x(0), axes, 0.0f), at.dy(), axes));
  return {};
}

// y = x/‖x‖ along an axis: dx = (dy − s·Σ dy·y)/‖x‖, where s is y, or of the sum of absolutes the sign of x.
Status lp_normalization(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(const std::int64_t p, int_attribute(at.node(), "p", 2));
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(at.node(), "axis", -1));
  DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.input(0)));
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, sizes.size()));
  const Ints axes = {static_cast<std::int64_t>(axis)};
  const std::string size = p == 1 ? emit.node("Abs", {at.x(0)}) : emit.mul(at.x(0), at.x(0));
  const std::string sum = emit.reduce("ReduceSum", size, axes, true);
  const std::string norm = p == 1 ? sum : emit.node("Sqrt", {sum});
  const std::string along = emit.reduce("ReduceSum", emit.mul(at.dy(), at.y()), axes, true);
  const std::string slope = p == 1 ? emit.node("Sign", {at.x(0)}) : at.y();
  at.add(0, emit.div(emit.sub(at.dy(), emit.mul(slope, along)), norm));
  return {};
}

// y = x·s^−β with s = bias + α/n·Σ x² over n channels around: dx = dy·s^−β − 2αβ/n·x·Σ dy·y/s over the
// channels that see this one.
Status lrn(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(const std::int64_t size, int_attribute(at.node(), "size", 1));
  DRIFTSCOPE_TRY(const float alpha, float_attribute(at.node(), "alpha", 1e-4f));
  DRIFTSCOPE_TRY(const float beta, float_attribute(at.node(), "beta", 0.75f));
  DRIFTSCOPE_TRY(const float bias, float_attribute(at.node(), "bias", 1.0f));
  DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.input(0)));
  DRIFTSCOPE_TRY(const std::int64_t channels, at.size(at.input(0), 1));
  if (channels > 8192) return at.unsupported_form("of so many channels");
  const auto n = static_cast<std::size_t>(channels);
  std::vector<double> seen(n * n, 0.0), seeing(n * n, 0.0);
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t k = std::max<std::int64_t>(0, c - (size - 1) / 2);
         k <= std::min(channels - 1, c + size / 2); ++k) {
      seen[static_cast<std::size_t>(c) * n + static_cast<std::size_t>(k)] = 1.0;
      seeing[static_cast<std::size_t>(k) * n + static_cast<std::size_t>(c)] = 1.0;
    }
  const auto number = [&](double value) { return emit.scalar(value, at.dtype()); };
  const double share = static_cast<double>(alpha) / static_cast<double>(size);
  DRIFTSCOPE_TRY(const std::string squares,
                 at.along_axis(emit.mul(at.x(0), at.x(0)), sizes, 1,
                               emit.numbers(seen, {channels, channels}, at.dtype()), channels));
  const std::string s = emit.add(emit.mul(squares, number(share)), number(static_cast<double>(bias)));
  const std::string own = emit.mul(at.dy(), emit.node("Pow", {s, number(-static_cast<double>(beta))}));
  DRIFTSCOPE_TRY(const std::string others,
                 at.along_axis(emit.div(emit.mul(at.dy(), at.y()), s), sizes, 1,
                               emit.numbers(seeing, {channels, channels}, at.dtype()), channels));
  const double factor = 2.0 * share * static_cast<double>(beta);
  at.add(0, emit.sub(own, emit.mul(emit.mul(at.x(0), number(factor)), others)));
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
  table.add("GroupNormalization", rules::group_normalization);
  table.add("MeanVarianceNormalization", rules::mean_variance_normalization);
  table.add("LpNormalization", rules::lp_normalization);
  table.add("LRN", rules::lrn);
}

}  // namespace gradient_rules::normalization

}  // namespace driftscope
