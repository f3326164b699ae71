// Matrix products.
#include <fmt/format.h>

#include <numeric>

#include "core/base/text.hpp"
#include "core/convert/tf/to_onnx/maker.hpp"

namespace driftscope::tf::to_onnx_operators::products {
namespace {

using namespace to_onnx_parts;

/// Two axes, each factor transposed or not; fused with a bias and an activation.
Status matmul(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string a, maker.input(node, 0));
  DRIFTSCOPE_TRY(const std::string b, maker.input(node, 1));
  Names inputs = {a, b};
  auto fused = attribute<std::vector<std::string>>(node, "fused_ops", {});
  if (node.inputs.size() > 2) {
    DRIFTSCOPE_TRY(const std::string bias, maker.input(node, 2));
    inputs.push_back(bias);
    if (!fused.empty() && fused[0] == "BiasAdd") fused.erase(fused.begin());
  }
  if (fused.size() > 1)
    return unsupported(fmt::format("fused_ops [{}] are not supported", fmt::join(fused, ", ")));
  OnnxAttributes attributes = {
      of("transA", static_cast<std::int64_t>(attribute<bool>(node, "transpose_a", false))),
      of("transB", static_cast<std::int64_t>(attribute<bool>(node, "transpose_b", false)))};
  if (fused.empty()) {
    maker.give("Gemm", std::move(inputs), std::move(attributes));
    return {};
  }
  const std::string before =
      maker.make("before_activation", "Gemm", std::move(inputs), std::move(attributes));
  if (fused[0] == "Prelu") {
    DRIFTSCOPE_TRY(const std::string slope, maker.input(node, 3));
    maker.give("PRelu", {before, slope});
    return {};
  }
  return give_activation(maker, node, fused[0], before);
}

/// The last two axes the other way round.
Result<std::string> adjoint(Maker& maker, const Node& node, std::size_t input, std::string_view name) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, input));
  if (!attribute<bool>(node, name, false)) return x;
  const TensorInfo* const info = maker.info(node.inputs[input]);
  const Tensor* const constant = maker.constant(node.inputs[input]);
  const std::size_t rank = constant != nullptr ? constant->shape().size()
                           : info != nullptr   ? info->shape.size()
                                               : 0;
  if (rank < 2)
    return unsupported(fmt::format("{}: the rank of {} is not known", name, in_quotes(node.inputs[input])));
  Numbers order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[rank - 1], order[rank - 2]);
  return maker.transposed(x, std::move(order), name);
}

Status batched(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string a, adjoint(maker, node, 0, "adj_x"));
  DRIFTSCOPE_TRY(const std::string b, adjoint(maker, node, 1, "adj_y"));
  maker.give("MatMul", {a, b});
  return {};
}

/// TensorFlow Lite's: values [..., in], weights [out, in], bias [out]. Without keep_num_dims the values
/// become one matrix.
Status fully_connected(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const std::string weights, maker.input(node, 1));
  const auto shape = maker.shape(node.inputs[1]);
  if (!shape || shape->size() != 2)
    return bad_input(fmt::format("the weights {} must be [out, in]", in_quotes(node.inputs[1])));
  Names bias;
  if (node.inputs.size() > 2 && !node.inputs[2].empty()) {
    DRIFTSCOPE_TRY(std::string one, maker.input(node, 2));
    bias.push_back(std::move(one));
  }
  if (!attribute<bool>(node, "keep_num_dims", false)) {
    const auto given = maker.shape(node.inputs[0]);
    if (!given || given->size() != 2)
      x = maker.make("rows", "Reshape", {x, maker.integers({-1, (*shape)[1]}, "shape")});
    Names inputs = {x, weights};
    inputs.insert(inputs.end(), bias.begin(), bias.end());
    maker.give("Gemm", std::move(inputs), {of("transB", std::int64_t{1})});
    return {};
  }
  const std::string columns = maker.transposed(weights, {1, 0}, "columns");
  if (bias.empty()) {
    maker.give("MatMul", {x, columns});
    return {};
  }
  maker.give("Add", {maker.make("product", "MatMul", {x, columns}), bias[0]});
  return {};
}

Status einsum(Maker& maker, const Node& node) {
  Names inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    DRIFTSCOPE_TRY(std::string one, maker.input(node, i));
    inputs.push_back(std::move(one));
  }
  const auto equation = attribute<std::string>(node, "equation", "");
  if (equation.empty()) return bad_input("it has no equation");
  maker.give("Einsum", std::move(inputs), {of("equation", equation)});
  return {};
}

}  // namespace

void add_to(to_onnx_parts::RuleTable& table) {
  table.add("MatMul", matmul);
  table.add("_FusedMatMul", matmul);
  table.add("BatchMatMul", batched);
  table.add("BatchMatMulV2", batched);
  table.add("FullyConnected", fully_connected);
  table.add("Einsum", einsum);
}

}  // namespace driftscope::tf::to_onnx_operators::products
