// Gemm, MatMul, and com.microsoft MatMulNBits, whose constant weights are decoded while planning: from there
// on they are float32.
#include <algorithm>
#include <array>

#include "core/engines/gpu/lowering.hpp"
#include "core/engines/gpu/operator_table.hpp"
#include "core/eval/evaluated.hpp"
#include "core/graph/attributes.hpp"
#include "core/ops/shared/matmul_nbits.hpp"

namespace driftscope::gpu::gemm {

// A bias for each column; nothing where C is something else.
std::optional<std::vector<float>> bias_of(const Tensor& c, std::int64_t n, float beta) {
  const Shape& shape = c.shape();
  const bool row = !shape.empty() && shape.back() == n && c.elements() == n;
  if (c.dtype() != DType::float32 || (!row && c.elements() != 1)) return std::nullopt;
  std::vector<float> bias(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = beta * c.values<float>()[row ? i : 0];
  return bias;
}

// With what follows the node, where the engine can.
Result<bool> finish(GpuLowering& lowering, const Node& node, Product product) {
  const bool adds = lowering.adds_sum(false, product.n);
  const Fusion fusion = adds ? lowering.with_sum(node) : lowering.with_activation(node);
  product.clamp = fusion.clamp;
  if (fusion.addend != no_value) {
    DRIFTSCOPE_TRY(product.addend, lowering.read(fusion.addend, {}));
  }
  product.y = lowering.write(fusion.output, {});
  DRIFTSCOPE_TRY(const bool done, lowering.emit_product(std::move(product)));
  lowering.absorb(fusion);
  return done;
}

Result<bool> lower_gemm(GpuLowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  if (!lowering.is_float(x) || !lowering.is_float(node.inputs[1]) || !lowering.is_float(node.outputs[0]))
    return false;
  DRIFTSCOPE_TRY(const float alpha, float_attribute(node, "alpha", 1.0f));
  DRIFTSCOPE_TRY(const float beta, float_attribute(node, "beta", 1.0f));
  DRIFTSCOPE_TRY(const std::int64_t turns_a, int_attribute(node, "transA", 0));
  DRIFTSCOPE_TRY(const std::int64_t turns_b, int_attribute(node, "transB", 0));
  const Tensor* w = lowering.constant(node.inputs[1]);
  const Shape a = lowering.shape(x);
  const Shape b = lowering.shape(node.inputs[1]);
  if (turns_a != 0 || a.size() != 2 || b.size() != 2 || (w == nullptr && alpha != 1.0f)) return false;
  Product product;
  product.m = a[0];
  product.k = a[1];
  product.n = turns_b != 0 ? b[0] : b[1];
  if (w == nullptr && !lowering.may_loop(product.k)) return false;
  std::vector<float> bias;
  if (lowering.has_input(node, 2)) {
    const Tensor* c = lowering.constant(node.inputs[2]);
    const auto given = c == nullptr ? std::nullopt : bias_of(*c, product.n, beta);
    if (!given) return false;
    bias = *given;
  }
  product.bias = bias;
  DRIFTSCOPE_TRY(product.a, lowering.read(x, {}));
  if (w != nullptr) {
    product.constant_b = [from = w->values<float>().data(), alpha, turns_b, rows = product.k,
                          columns = product.n](std::int64_t k, std::int64_t n) {
      return alpha * (turns_b != 0 ? from[n * rows + k] : from[k * columns + n]);
    };
  } else {
    product.b_transposed = turns_b != 0;
    DRIFTSCOPE_TRY(product.b, lowering.read(node.inputs[1], {}));
  }
  return finish(lowering, node, std::move(product));
}

Result<bool> lower_matmul(GpuLowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  const ValueId z = node.inputs[1];
  if (!lowering.is_float(x) || !lowering.is_float(z) || !lowering.is_float(node.outputs[0])) return false;
  const Shape a = lowering.shape(x);
  const Shape b = lowering.shape(z);
  if (a.size() < 2 || b.size() < 2) return false;
  Product product;
  product.m = a[a.size() - 2];
  product.k = a.back();
  product.n = b.back();
  const Tensor* w = lowering.constant(z);
  if ((w == nullptr || b.size() != 2) && product.n % 4 != 0 && !lowering.may_loop(product.k)) return false;
  if (b.size() == 2) {
    // One matrix for all: their rows are the rows of one product.
    product.m = element_count(a) / product.k;
  } else {
    const std::size_t rank = std::max(a.size(), b.size()) - 2;
    const Shape y = lowering.shape(node.outputs[0]);
    const auto a_strides = broadcast_strides({a.begin(), a.end() - 2}, rank);
    const auto b_strides = broadcast_strides({b.begin(), b.end() - 2}, rank);
    std::vector<WalkAxis> axes;
    for (std::size_t i = 0; i < rank; ++i) {
      axes.push_back({y[i], {a_strides[i], b_strides[i]}});
      product.batches *= y[i];
    }
    axes = joined(axes);
    product.a_batch = place_of(axes, 0, "batch");
    product.b_batch = place_of(axes, 1, "batch");
    product.one_b = false;
  }
  DRIFTSCOPE_TRY(product.a, lowering.read(x, {}));
  if (w != nullptr && b.size() == 2) {
    product.constant_b = [from = w->values<float>().data(), columns = product.n](
                             std::int64_t k, std::int64_t n) { return from[k * columns + n]; };
  } else {
    DRIFTSCOPE_TRY(product.b, lowering.read(z, {}));
  }
  return finish(lowering, node, std::move(product));
}

// A constant of any floating type; scales of float16 are exact as float32.
Result<Tensor> as_float32(const Tensor& tensor) {
  if (tensor.dtype() == DType::float32) return tensor;
  DRIFTSCOPE_TRY(const Evaluated<float> values, lift<float>(tensor));
  DRIFTSCOPE_TRY(Tensor made, Tensor::make(DType::float32, tensor.shape(), "a constant"));
  std::ranges::copy(values.real, made.mutable_values<float>().begin());
  return made;
}

Result<bool> lower_nbits(GpuLowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  if (!lowering.is_float(x) || !lowering.is_float(node.outputs[0])) return false;
  std::array<const Tensor*, 6> given = {};  // A, B, scales, zero_points, g_idx, bias
  for (std::size_t i = 1; i < given.size(); ++i)
    if (lowering.has_input(node, i)) {
      given[i] = lowering.constant(node.inputs[i]);
      if (given[i] == nullptr) return false;
    }
  std::array<Tensor, 6> floats;
  for (const std::size_t i : {2u, 3u, 5u})
    if (given[i] != nullptr && is_floating(given[i]->dtype())) {
      if (given[i]->dtype() == DType::float64) return false;
      DRIFTSCOPE_TRY(floats[i], as_float32(*given[i]));
      given[i] = &floats[i];
    }
  DRIFTSCOPE_TRY(const NBitsLayout layout, read_nbits_layout(node));
  DRIFTSCOPE_TRY(auto groups, nbits_groups(given[4], layout));
  // Of few bits it fitted, as float32 it may be too large for one object: strict needs no such.
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(float));
  if (layout.columns + 3 > lowering.facts().max_object_bytes / bytes / layout.depth) return false;
  Product product;
  product.m = element_count(lowering.shape(x)) / layout.depth;
  product.n = layout.columns;
  product.k = layout.depth;
  std::vector<float> bias;
  if (given[5] != nullptr) {
    const auto row = bias_of(*given[5], product.n, 1.0f);
    if (!row) return false;
    bias = *row;
  }
  product.bias = bias;
  DRIFTSCOPE_TRY(product.a, lowering.read(x, {}));
  const NBitsWeights weights(layout, std::move(groups), *given[1], *given[2], given[3]);
  product.constant_b = [&weights](std::int64_t k, std::int64_t n) { return weights.at(k, n); };
  return finish(lowering, node, std::move(product));
}

void add_to(GpuOperatorTable& table) {
  table.add("Gemm", lower_gemm);
  table.add("MatMul", lower_matmul);
  table.add("com.microsoft.MatMulNBits", lower_nbits);
}

}  // namespace driftscope::gpu::gemm
