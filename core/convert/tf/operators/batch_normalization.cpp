// BatchNormalization: FusedBatchNormV3; without it a product and a sum, their constants computed in double.
#include <fmt/format.h>
#include <cmath>

#include "core/convert/tf/lowering.hpp"

namespace driftscope::tf::operators::batch_normalization {
namespace {

// scale/√(var + ε) and B − mean·that.
struct Line {
  std::vector<float> factor;
  std::vector<float> offset;
};
Result<Line> line_of(const Lowering& lowering, const OnnxNode& node, float epsilon) {
  std::array<std::span<const float>, 4> values;
  for (std::size_t i = 0; i < 4; ++i) {
    DRIFTSCOPE_TRY(const Tensor* const known, lowering.known(node, i + 1, "statistics"));
    if (known->dtype() != DType::float32)  // they may be of another type than the input
      return unsupported(fmt::format("statistics of {} have no equivalent", dtype_name(known->dtype())));
    values[i] = known->values<float>();
  }
  Line line;
  for (std::size_t c = 0; c < values[0].size(); ++c) {
    const double factor = static_cast<double>(values[0][c]) /
                          std::sqrt(static_cast<double>(values[3][c]) + static_cast<double>(epsilon));
    line.factor.push_back(static_cast<float>(factor));
    line.offset.push_back(
        static_cast<float>(static_cast<double>(values[1][c]) - static_cast<double>(values[2][c]) * factor));
  }
  return line;
}

Status lower(Lowering& lowering, const OnnxNode& node) {
  const ValueId x = node.inputs[0];
  const Shape shape = lowering.shape(x);
  for (std::size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i] != no_value) return unsupported("training has no equivalent");
  if (lowering.shape(node.inputs[1]).size() != 1)
    return unsupported("statistics for every position, of opset 7 and 8, have no equivalent");
  if (shape.size() < 2) return unsupported("a vector without channels has no equivalent");
  DRIFTSCOPE_TRY(const float epsilon, float_attribute(node, "epsilon", 1e-5f));
  const Order order = channels_last(shape.size());
  DRIFTSCOPE_TRY(std::string tensor, lowering.read(x, order));
  Shape held = lowering.info(tensor).shape;
  if (!lowering.has("FusedBatchNormV3")) {
    DRIFTSCOPE_TRY(const Line line, line_of(lowering, node, epsilon));
    DRIFTSCOPE_TRY(Tensor factors, Tensor::from_values<float>({shape[1]}, line.factor));
    DRIFTSCOPE_TRY(Tensor offsets, Tensor::from_values<float>({shape[1]}, line.offset));
    DRIFTSCOPE_TRY(const std::string factor, lowering.constant(factors, "factor"));
    DRIFTSCOPE_TRY(const std::string offset, lowering.constant(offsets, "offset"));
    const std::string scaled = lowering.elementwise("scaled", "Mul", {tensor, factor});
    return lowering.give(node.outputs[0], "AddV2", {scaled, offset}, {}, order);
  }
  Inputs inputs;
  for (std::size_t i = 1; i <= 4; ++i) {
    DRIFTSCOPE_TRY(std::string statistics, lowering.read(node.inputs[i]));
    inputs.push_back(std::move(statistics));
  }
  const Attributes attributes = {
      {"epsilon", epsilon}, {"is_training", false}, {"data_format", std::string("NHWC")}};
  // Its operand has four axes.
  const Shape four =
      held.size() == 4 ? held
      : held.size() < 4
          ? Shape{held[0], 1, element_count(held) / std::max<std::int64_t>(1, held[0] * held.back()),
                  held.back()}
          : Shape{held[0], held[1],
                  element_count(held) / std::max<std::int64_t>(1, held[0] * held[1] * held.back()),
                  held.back()};
  DRIFTSCOPE_TRY(tensor, lowering.reshape("four_axes", tensor, four));
  inputs.insert(inputs.begin(), tensor);
  if (four == held)
    return lowering.give(node.outputs[0], "FusedBatchNormV3", std::move(inputs), attributes, order);
  const std::string normalized = lowering.make("normalized", "FusedBatchNormV3", std::move(inputs),
                                               attributes, {DType::float32, four, {}});
  return lowering.give_reshaped(node.outputs[0], normalized, order);
}

}  // namespace

void add_to(OperatorTable& table) { table.add("BatchNormalization", lower, Prefers::channels_last); }

}  // namespace driftscope::tf::operators::batch_normalization
