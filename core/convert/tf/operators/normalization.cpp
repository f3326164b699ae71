// LayerNormalization, InstanceNormalization, GroupNormalization, MeanVarianceNormalization and
// LpNormalization, of means and elementwise operators: (x − mean)·(1/√(variance + ε))·scale + bias, the
// variance in two passes.
#include <numeric>

#include "core/convert/tf/lowering.hpp"

namespace driftscope::tf::operators::normalization {
namespace {

struct Moments {
  std::string mean;
  std::string centred;
  std::string variance;
};

Result<std::string> mean_of(Lowering& lowering, std::string_view suffix, const std::string& tensor,
                            const std::vector<std::int64_t>& axes, std::string_view op = "Mean") {
  DRIFTSCOPE_TRY(const std::string over, lowering.ints(axes, "axes"));
  TensorInfo info = lowering.info(tensor);
  for (const std::int64_t axis : axes) info.shape[static_cast<std::size_t>(axis)] = 1;
  return lowering.make(suffix, op, {tensor, over}, {{"keep_dims", true}}, std::move(info));
}

Result<Moments> moments_of(Lowering& lowering, const std::string& tensor,
                           const std::vector<std::int64_t>& axes) {
  Moments moments;
  DRIFTSCOPE_TRY(moments.mean, mean_of(lowering, "mean", tensor, axes));
  moments.centred = lowering.elementwise("centred", "Sub", {tensor, moments.mean});
  const std::string squares = lowering.elementwise("squares", "Square", {moments.centred});
  DRIFTSCOPE_TRY(moments.variance, mean_of(lowering, "variance", squares, axes));
  return moments;
}

std::string inverse_deviation(Lowering& lowering, const std::string& variance, float epsilon) {
  const std::string sum = lowering.elementwise("variance_epsilon", "AddV2",
                                               {variance, lowering.number(static_cast<double>(epsilon))});
  return lowering.elementwise("inverse_deviation", "Rsqrt", {sum});
}

Status lower_layer(Lowering& lowering, const OnnxNode& node) {
  const std::size_t rank = lowering.rank(node.inputs[0]);
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", -1));
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, rank));
  DRIFTSCOPE_TRY(const float epsilon, float_attribute(node, "epsilon", 1e-5f));
  std::vector<std::int64_t> axes(rank - axis);
  std::iota(axes.begin(), axes.end(), static_cast<std::int64_t>(axis));
  DRIFTSCOPE_TRY(const std::string x, lowering.read(node.inputs[0]));
  DRIFTSCOPE_TRY(const Moments moments, moments_of(lowering, x, axes));
  const std::string inverse = inverse_deviation(lowering, moments.variance, epsilon);
  const std::string normalized = lowering.elementwise("normalized", "Mul", {moments.centred, inverse});
  DRIFTSCOPE_TRY(const std::string scale, lowering.read(node.inputs[1]));
  if (Lowering::has_input(node, 2)) {
    const std::string scaled = lowering.elementwise("scaled", "Mul", {normalized, scale});
    DRIFTSCOPE_TRY(const std::string bias, lowering.read(node.inputs[2]));
    DRIFTSCOPE_CHECK(lowering.give(node.outputs[0], "AddV2", {scaled, bias}));
  } else {
    DRIFTSCOPE_CHECK(lowering.give(node.outputs[0], "Mul", {normalized, scale}));
  }
  if (Lowering::has_output(node, 1)) DRIFTSCOPE_CHECK(lowering.give_same(node.outputs[1], moments.mean));
  if (Lowering::has_output(node, 2)) DRIFTSCOPE_CHECK(lowering.give_same(node.outputs[2], inverse));
  return {};
}

// A parameter for each channel, along the last axis of channels last.
Status lower_instance(Lowering& lowering, const OnnxNode& node) {
  const std::size_t rank = lowering.rank(node.inputs[0]);
  DRIFTSCOPE_TRY(const float epsilon, float_attribute(node, "epsilon", 1e-5f));
  const Order order = channels_last(rank);
  DRIFTSCOPE_TRY(const std::string x, lowering.read(node.inputs[0], order));
  std::vector<std::int64_t> axes;
  for (std::size_t axis = 1; axis + 1 < rank; ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  DRIFTSCOPE_TRY(const Moments moments, moments_of(lowering, x, axes));
  const std::string inverse = inverse_deviation(lowering, moments.variance, epsilon);
  const std::string normalized = lowering.elementwise("normalized", "Mul", {moments.centred, inverse});
  DRIFTSCOPE_TRY(const std::string scale, lowering.read(node.inputs[1]));
  const std::string scaled = lowering.elementwise("scaled", "Mul", {normalized, scale});
  DRIFTSCOPE_TRY(const std::string bias, lowering.read(node.inputs[2]));
  return lowering.give(node.outputs[0], "AddV2", {scaled, bias}, {}, order);
}

// Groups of channels as an axis of their own.
Status lower_group(Lowering& lowering, const OnnxNode& node) {
  const Shape shape = lowering.shape(node.inputs[0]);
  DRIFTSCOPE_TRY(const float epsilon, float_attribute(node, "epsilon", 1e-5f));
  DRIFTSCOPE_TRY(const std::int64_t groups, int_attribute(node, "num_groups", 1));
  if (shape[0] * shape[1] == 0) return unsupported("an input without elements has no equivalent");
  const std::int64_t spatial = element_count(shape) / (shape[0] * shape[1]);
  const Shape grouped = {shape[0], groups, shape[1] / groups, spatial};
  DRIFTSCOPE_TRY(std::string x, lowering.read(node.inputs[0]));
  DRIFTSCOPE_TRY(x, lowering.reshape("groups", x, grouped));
  DRIFTSCOPE_TRY(const Moments moments, moments_of(lowering, x, {2, 3}));
  const std::string inverse = inverse_deviation(lowering, moments.variance, epsilon);
  const std::string normalized = lowering.elementwise("normalized", "Mul", {moments.centred, inverse});
  Inputs parameters;
  for (std::size_t i = 1; i <= 2; ++i) {
    DRIFTSCOPE_TRY(const std::string given, lowering.read(node.inputs[i]));
    const bool per_group = lowering.shape(node.inputs[i])[0] == groups && groups != shape[1];
    DRIFTSCOPE_TRY(std::string aligned,
                   lowering.reshape("parameter", given,
                                    per_group ? Shape{groups, 1, 1} : Shape{groups, shape[1] / groups, 1}));
    parameters.push_back(std::move(aligned));
  }
  const std::string scaled = lowering.elementwise("scaled", "Mul", {normalized, parameters[0]});
  return lowering.give_reshaped(node.outputs[0],
                                lowering.elementwise("shifted", "AddV2", {scaled, parameters[1]}));
}

Result<std::vector<std::int64_t>> axes_of(const OnnxNode& node, std::size_t rank, const Order& order) {
  DRIFTSCOPE_TRY(const Ints given, ints_attribute(node, "axes", {0, 2, 3}));
  std::vector<std::int64_t> places;
  for (const std::int64_t number : given) {
    DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(number, rank));
    places.push_back(static_cast<std::int64_t>(place_of_axis(axis, order)));
  }
  return places;
}

Status lower_mean_variance(Lowering& lowering, const OnnxNode& node) {
  const Order order = lowering.order(node.inputs[0]);
  DRIFTSCOPE_TRY(const auto axes, axes_of(node, lowering.rank(node.inputs[0]), order));
  DRIFTSCOPE_TRY(const std::string x, lowering.read(node.inputs[0], order));
  DRIFTSCOPE_TRY(const Moments moments, moments_of(lowering, x, axes));
  const std::string deviation = lowering.elementwise("deviation", "Sqrt", {moments.variance});
  const std::string divisor = lowering.elementwise("divisor", "AddV2", {deviation, lowering.number(1e-9)});
  return lowering.give(node.outputs[0], "RealDiv", {moments.centred, divisor}, {}, order);
}

Status lower_lp(Lowering& lowering, const OnnxNode& node) {
  const Order order = lowering.order(node.inputs[0]);
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", -1));
  DRIFTSCOPE_TRY(const std::int64_t p, int_attribute(node, "p", 2));
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, lowering.rank(node.inputs[0])));
  const std::vector<std::int64_t> axes = {static_cast<std::int64_t>(place_of_axis(axis, order))};
  DRIFTSCOPE_TRY(const std::string x, lowering.read(node.inputs[0], order));
  const std::string sizes = lowering.elementwise("sizes", p == 1 ? "Abs" : "Square", {x});
  DRIFTSCOPE_TRY(std::string norm, mean_of(lowering, "sum", sizes, axes, "Sum"));
  if (p == 2) norm = lowering.elementwise("norm", "Sqrt", {norm});
  return lowering.give(node.outputs[0], "RealDiv", {x, norm}, {}, order);
}

}  // namespace

void add_to(OperatorTable& table) {
  table.add("LayerNormalization", lower_layer);
  table.add("InstanceNormalization", lower_instance, Prefers::channels_last);
  table.add("GroupNormalization", lower_group);
  table.add("MeanVarianceNormalization", lower_mean_variance, Prefers::any);
  table.add("LpNormalization", lower_lp, Prefers::any);
}

}  // namespace driftscope::tf::operators::normalization
