// Matrix products. With constant weights FULLY_CONNECTED, whose weights are [out, in]; else BATCH_MATMUL.
#include <fmt/format.h>

#include "core/convert/tflite/attributes.hpp"
#include "core/convert/tflite/operator_table.hpp"
#include "core/convert/tflite/weights.hpp"

namespace driftscope::tflite::operators::products {
namespace {

// FullyConnected is not in TensorFlow's registry: values [..., in], weights [out, in], bias [out].
Status fully_connected(Builder& builder, const tf::Node& node, TensorIndex weights, std::int64_t outputs) {
  DRIFTSCOPE_TRY(const TensorIndex bias, bias_of(builder, node, outputs));
  const bool keeps_rank = builder.info(node.inputs[0]).shape.size() != 2;
  const auto made =
      fb::CreateFullyConnectedOptions(builder.tables(), fb::ActivationFunctionType::NONE,
                                      fb::FullyConnectedOptionsWeightsFormat::DEFAULT, keeps_rank);
  builder.add({fb::BuiltinOperator::FULLY_CONNECTED,
               {builder.tensor(node.inputs[0]), weights, bias},
               {builder.tensor(node.name)},
               Builder::options(made)});
  return {};
}

Status write_fully_connected(Builder& builder, const tf::Node& node) {
  const Shape& weights = builder.info(node.inputs[1]).shape;
  if (weights.size() != 2)
    return unsupported(fmt::format("weights of shape {}; they must be [out, in]", shape_text(weights)));
  return fully_connected(builder, node, builder.tensor(node.inputs[1]), weights[0]);
}

Status batch_matmul(Builder& builder, const tf::Node& node, bool transpose_a, bool transpose_b) {
  const auto made = fb::CreateBatchMatMulOptions(builder.tables(), transpose_a, transpose_b);
  builder.add({fb::BuiltinOperator::BATCH_MATMUL,
               {builder.tensor(node.inputs[0]), builder.tensor(node.inputs[1])},
               {builder.tensor(node.name)},
               Builder::options(made)});
  return {};
}

// Of the right factor, in either order: weights are one matrix of constants.
Status product(Builder& builder, const tf::Node& node, bool transpose_a, bool transpose_b) {
  const Tensor* weights = builder.constant_value(node.inputs[1]);
  const std::size_t rank = builder.info(node.inputs[0]).shape.size();
  if (weights == nullptr || weights->shape().size() != 2 || transpose_a || rank < 2) {
    if (node.inputs.size() > 2) return unsupported("a bias of a product of two values that are computed");
    return batch_matmul(builder, node, transpose_a, transpose_b);
  }
  const std::array<std::size_t, 2> swapped{1, 0};
  DRIFTSCOPE_TRY(const TensorIndex rows, transpose_b ? Result<TensorIndex>(builder.tensor(node.inputs[1]))
                                                     : reordered(builder, node, node.inputs[1], swapped));
  return fully_connected(builder, node, rows, weights->shape()[transpose_b ? 0 : 1]);
}

Status matmul(Builder& builder, const tf::Node& node) {
  return product(builder, node, attribute(node, "transpose_a", false), attribute(node, "transpose_b", false));
}

Status batched(Builder& builder, const tf::Node& node) {
  return product(builder, node, attribute(node, "adj_x", false), attribute(node, "adj_y", false));
}

}  // namespace

void add_to(OperatorTable& table) {
  table["FullyConnected"] = write_fully_connected;
  table["MatMul"] = matmul;
  table["_FusedMatMul"] = matmul;
  table["BatchMatMul"] = batched;
  table["BatchMatMulV2"] = batched;
}

}  // namespace driftscope::tflite::operators::products
