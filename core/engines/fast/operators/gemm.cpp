// Gemm and MatMul: with constant weights XNNPACK's fully connected operator, else its batched matrix
// product. A flattened image that is still channels-last is used as it is: the rows of the weights
// are permuted instead.
#include <algorithm>
#include <array>

#include "core/engines/fast/lowering.hpp"
#include "core/engines/fast/operators/quantized_gemm.hpp"
#include "core/graph/attributes.hpp"
#include "core/model/matrix_parts.hpp"

namespace driftscope::fast::gemm {

// Weights K×N, or N×K (transposed), with a bias for each of the N.
struct Weights {
  const Tensor* matrix = nullptr;
  bool transposed = false;  // N×K
  float scale = 1.0f;
  std::vector<float> bias;  // N, or empty
  std::int64_t k = 0;
  std::int64_t n = 0;

  [[nodiscard]] WeightMatrix all() const { return {*matrix, transposed}; }
};

// A multiple of the columns that XNNPACK's kernels compute at once, on every instruction set.
constexpr std::int64_t part_columns = 64;

// The weights of some columns, in the given order.
Result<Tensor> part_of(const Weights& weights, Columns part) {
  if (part.count() == weights.n) return *weights.matrix;
  const Shape shape = weights.transposed ? Shape{part.count(), weights.k} : Shape{weights.k, part.count()};
  DRIFTSCOPE_TRY(Tensor result, Tensor::unwritten(DType::float32, shape, "weights"));
  copy_columns(weights.all(), part, result.mutable_values<float>());
  return result;
}

// The rows of weights in the memory order of the inputs that they belong to, times the scale.
Result<Tensor> arranged(const Weights& weights, const Tensor& matrix, std::int64_t n, Layout layout) {
  const float* from = matrix.values<float>().data();
  const std::int64_t k = weights.k;
  DRIFTSCOPE_TRY(Tensor result, Tensor::make(DType::float32, matrix.shape(), "weights"));
  float* to = result.mutable_values<float>().data();
  std::vector<std::int64_t> places(static_cast<std::size_t>(k));  // in memory → in ONNX
  const Blocks blocks = blocks_of({1, k}, layout);
  for (std::int64_t i = 0; i < k; ++i)
    places[static_cast<std::size_t>(i)] =
        layout.plain() ? i : i % blocks.channels * blocks.spatial + i / blocks.channels;
  for (std::int64_t i = 0; i < k; ++i) {
    const std::int64_t place = places[static_cast<std::size_t>(i)];
    if (weights.transposed)
      for (std::int64_t j = 0; j < n; ++j) to[j * k + i] = weights.scale * from[j * k + place];
    else
      for (std::int64_t j = 0; j < n; ++j) to[i * n + j] = weights.scale * from[place * n + j];
  }
  return result;
}

// Null if XNNPACK does not support it.
Result<XnnOperator> fully_connected(const Weights& weights, Columns part, Layout layout, const Clamp& clamp) {
  DRIFTSCOPE_TRY(Tensor matrix, part_of(weights, part));
  if (weights.scale != 1.0f || !same_order({1, weights.k}, layout, {})) {
    DRIFTSCOPE_TRY(matrix, arranged(weights, matrix, part.count(), layout));
  }
  const auto k = static_cast<std::size_t>(weights.k);
  xnn_operator_t raw = nullptr;
  if (xnn_create_fully_connected_nc_f32(
          k, static_cast<std::size_t>(part.count()), k, static_cast<std::size_t>(weights.n),
          matrix.values<float>().data(), weights.bias.empty() ? nullptr : weights.bias.data() + part.begin,
          clamp.min, clamp.max, weights.transposed ? 0 : XNN_FLAG_TRANSPOSE_WEIGHTS, nullptr, nullptr,
          &raw) != xnn_status_success)
    return XnnOperator();
  return XnnOperator(raw);
}

// x [rows…, K] · weights → the node's output, whose last axis is N.
Result<bool> place_fully_connected(Lowering& lowering, const Node& node, const Fusion& fusion,
                                   const Weights& weights) {
  if (weights.k == 0 || weights.n == 0) return false;
  const ValueId x = node.inputs[0];
  const Shape x_shape = lowering.shape(x);
  // A group layout is one of the last axis only where there are two axes.
  Layout layout = lowering.layout(x);
  if (x_shape.size() != 2) layout = {};
  const std::int64_t rows = element_count(x_shape) / weights.k;
  struct Part {
    Columns columns;
    XnnOperator op;
    pthreadpool_t pool;
  };
  std::vector<Part> parts;
  for (const Columns columns : column_parts(weights.all(), part_columns)) {
    DRIFTSCOPE_TRY(XnnOperator op, fully_connected(weights, columns, layout, fusion.clamp));
    const pthreadpool_t pool = lowering.pool_for(rows * weights.k * columns.count());
    if (!op || xnn_reshape_fully_connected_nc_f32(op.get(), static_cast<std::size_t>(rows), pool) !=
                   xnn_status_success)
      return false;
    parts.push_back({columns, std::move(op), pool});
  }
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, layout));
  const BufferId out = lowering.write(fusion.output, {});
  for (Part& part : parts)
    lowering.emit(std::move(part.op), part.pool, {in}, {out},
                  [in, out, begin = part.columns.begin](xnn_operator_t it, const Memory& memory) {
                    return xnn_setup_fully_connected_nc_f32(it, memory.at<const float>(in),
                                                            memory.at<float>(out) + begin);
                  });
  lowering.absorb(fusion);
  return true;
}

// Gemm's C as one number per column; nothing if it is not that.
std::optional<std::vector<float>> bias_of(const Tensor& c, float beta, std::int64_t n) {
  if (c.dtype() != DType::float32 || (c.elements() != 1 && c.elements() != n) ||
      (c.elements() == n && n > 1 && c.shape().back() != n))
    return std::nullopt;
  std::vector<float> bias(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = beta * c.values<float>()[c.elements() == 1 ? 0 : i];
  return bias;
}

Result<bool> lower_gemm(Lowering& lowering, const Node& node) {
  DRIFTSCOPE_TRY(const bool quantized, lower_product_between_quantized(lowering, node));
  if (quantized) return true;
  const Tensor* b = lowering.constant(node.inputs[1]);
  if (b == nullptr || b->dtype() != DType::float32 || b->elements() == 0 ||
      !lowering.is_float(node.inputs[0]) || !lowering.is_float(node.outputs[0]))
    return false;
  DRIFTSCOPE_TRY(const std::int64_t trans_a, int_attribute(node, "transA", 0));
  DRIFTSCOPE_TRY(const std::int64_t trans_b, int_attribute(node, "transB", 0));
  DRIFTSCOPE_TRY(const float alpha, float_attribute(node, "alpha", 1.0f));
  DRIFTSCOPE_TRY(const float beta, float_attribute(node, "beta", 1.0f));
  if (trans_a != 0) return false;
  Weights weights{.matrix = b, .transposed = trans_b != 0, .scale = alpha, .bias = {}};
  weights.k = b->shape()[weights.transposed ? 1 : 0];
  weights.n = b->shape()[weights.transposed ? 0 : 1];
  if (lowering.has_input(node, 2) && beta != 0.0f) {
    const Tensor* c = lowering.constant(node.inputs[2]);
    if (c == nullptr) return false;
    auto bias = bias_of(*c, beta, weights.n);
    if (!bias) return false;
    weights.bias = *std::move(bias);
  }
  return place_fully_connected(lowering, node, lowering.with_activation(node), weights);
}

Result<bool> lower_matmul_by_values(Lowering& lowering, const Node& node) {
  const Shape a = lowering.shape(node.inputs[0]);
  const Shape b = lowering.shape(node.inputs[1]);
  if (a.size() < 2 || b.size() < 2) return false;
  const std::size_t rank = std::max(a.size(), b.size());
  if (rank > XNN_MAX_TENSOR_DIMS) return false;
  const auto batch = [&](const Shape& shape) {
    std::vector<std::size_t> dims(rank - shape.size(), 1);
    for (std::size_t i = 0; i + 2 < shape.size(); ++i) dims.push_back(static_cast<std::size_t>(shape[i]));
    return dims;
  };
  const std::vector<std::size_t> batch_a = batch(a);
  const std::vector<std::size_t> batch_b = batch(b);
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  xnn_operator_t raw = nullptr;
  if (xnn_create_batch_matrix_multiply_nc_f32(0, &raw) != xnn_status_success) return false;
  XnnOperator op(raw);
  const std::int64_t k = a.back();
  const pthreadpool_t pool = lowering.pool_for(element_count(lowering.shape(node.outputs[0])) * k);
  std::size_t workspace_bytes = 0;
  std::size_t alignment = 0;
  if (xnn_reshape_batch_matrix_multiply_nc_f32(raw, batch_a.size(), batch_a.data(), batch_b.data(),
                                               size(a[a.size() - 2]), size(k), size(b.back()),
                                               &workspace_bytes, &alignment, pool) != xnn_status_success)
    return false;
  DRIFTSCOPE_TRY(const BufferId left, lowering.read(node.inputs[0], {}));
  DRIFTSCOPE_TRY(const BufferId right, lowering.read(node.inputs[1], {}));
  const BufferId out = lowering.write(node.outputs[0], {});
  const BufferId workspace = lowering.scratch(workspace_bytes);
  lowering.emit(
      std::move(op), pool, {left, right}, {out, workspace}, [=](xnn_operator_t it, const Memory& memory) {
        return xnn_setup_batch_matrix_multiply_nc_f32(it, memory.address(workspace),
                                                      memory.at<const float>(left),
                                                      memory.at<const float>(right), memory.at<float>(out));
      });
  return true;
}

Result<bool> lower_matmul(Lowering& lowering, const Node& node) {
  DRIFTSCOPE_TRY(const bool quantized, lower_product_between_quantized(lowering, node));
  if (quantized) return true;
  if (!lowering.is_float(node.inputs[0]) || !lowering.is_float(node.inputs[1]) ||
      !lowering.is_float(node.outputs[0]))
    return false;
  const Tensor* b = lowering.constant(node.inputs[1]);
  if (b == nullptr || b->rank() != 2) return lower_matmul_by_values(lowering, node);
  const Weights weights{.matrix = b, .bias = {}, .k = b->shape()[0], .n = b->shape()[1]};
  return place_fully_connected(lowering, node, lowering.with_activation(node), weights);
}

void add_to(FastOperatorTable& table) {
  table.add("Gemm", lower_gemm);
  table.add("MatMul", lower_matmul);
}

}  // namespace driftscope::fast::gemm
