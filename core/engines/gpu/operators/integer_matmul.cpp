// Products of integers with a constant matrix: MatMulInteger, QLinearMatMul, and of com.microsoft
// MatMulIntegerToFloat, DynamicQuantizeMatMul and QGemm. Only where float32 holds all sums exactly; A less
// its zero point is multiplied by B less its own on the kernels of MatMul.
// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/gpu/integers.hpp"
#include "core/engines/gpu/operator_table.hpp"
#include "core/graph/attributes.hpp"
#include "core/lowering/numbers.hpp"

namespace driftscope::gpu::integer_matmul {

/// Of B: where it is among the inputs, and whether rows and columns are exchanged.
struct Inputs {
  std::size_t b = 1;
  std::size_t b_zero = 3;
  bool b_transposed = false;
};

struct Multiplication {
  std::int64_t rows = 0;
  std::int64_t depth = 0;
  std::int64_t columns = 0;
  std::vector<float> b;  ///< depth × columns, less the zero points

  [[nodiscard]] Spread spread() const { return {rows, columns, 1}; }
};

// B and the sizes, if it is a constant matrix and sums are exact for numbers of A up to `reach`.
std::optional<Multiplication> prepare(const GpuLowering& lowering, const Node& node, const Inputs& inputs,
                                      double reach, std::span<const float> bias = {}) {
  const Tensor* const b = lowering.constant(node.inputs[inputs.b]);
  if (b == nullptr || b->shape().size() != 2 || !lowering.is_byte(node.inputs[inputs.b])) return std::nullopt;
  const Shape a = lowering.shape(node.inputs[0]);
  if (a.size() < 2) return std::nullopt;
  Multiplication it;
  it.depth = b->shape()[inputs.b_transposed ? 1 : 0];
  it.columns = b->shape()[inputs.b_transposed ? 0 : 1];
  if (b->elements() == 0 || !fits_as_floats(lowering, it.depth, it.columns)) return std::nullopt;
  it.rows = element_count(a) / it.depth;
  const auto zeros = constant_numbers(lowering, node, inputs.b_zero, it.columns);
  if (!zeros) return std::nullopt;
  std::vector<float> stored(static_cast<std::size_t>(b->elements()));
  to_float32(b->dtype(), b->bytes(), stored);
  it.b.resize(stored.size());
  for (std::int64_t k = 0; k < it.depth; ++k)
    for (std::int64_t n = 0; n < it.columns; ++n) {
      const std::int64_t from = inputs.b_transposed ? n * it.depth + k : k * it.columns + n;
      it.b[static_cast<std::size_t>(k * it.columns + n)] =
          stored[static_cast<std::size_t>(from)] -
          (*zeros)[zeros->size() == 1 ? 0 : static_cast<std::size_t>(n)];
    }
  const auto weight = [&](std::int64_t n, std::int64_t k) {
    return it.b[static_cast<std::size_t>(k * it.columns + n)];
  };
  if (!sums_are_exact(it.columns, it.depth, weight, reach, bias)) return std::nullopt;
  return it;
}

Result<bool> multiply(GpuLowering& lowering, const Multiplication& it, BufferId a, BufferId y,
                      std::span<const float> bias = {}) {
  Product product;
  product.m = it.rows;
  product.n = it.columns;
  product.k = it.depth;
  product.a = a;
  product.y = y;
  product.bias = bias;
  product.constant_b = [&it](std::int64_t k, std::int64_t n) {
    return it.b[static_cast<std::size_t>(k * it.columns + n)];
  };
  return lowering.emit_product(std::move(product));
}

/// A in integers, with its zero point.
struct Steps {
  ZeroPoint zero;
  double reach = 0.0;
};

std::optional<Steps> steps_of_a(const GpuLowering& lowering, const Node& node, std::size_t zero) {
  if (!lowering.is_byte(node.inputs[0])) return std::nullopt;
  const auto found = zero_point(lowering, node, zero, lowering.value(node.inputs[0]).dtype);
  if (!found) return std::nullopt;
  return Steps{*found, reach_of(lowering.value(node.inputs[0]).dtype, *found)};
}

Result<bool> lower_integer(GpuLowering& lowering, const Node& node) {
  const auto a = steps_of_a(lowering, node, 2);
  const auto it = a ? prepare(lowering, node, {}, a->reach) : std::nullopt;
  if (!it || !lowering.can_be_number(node.outputs[0])) return false;
  DRIFTSCOPE_TRY(const BufferId in, read_less_zero(lowering, node.inputs[0], a->zero, {}));
  return multiply(lowering, *it, in, lowering.write(node.outputs[0], {}));
}

Result<bool> lower_qlinear(GpuLowering& lowering, const Node& node) {
  const ValueId y = node.outputs[0];
  const auto a = steps_of_a(lowering, node, 2);
  const auto it = a ? prepare(lowering, node, {.b = 3, .b_zero = 5}, a->reach) : std::nullopt;
  if (!it || !lowering.is_byte(y)) return false;
  const auto a_scale = constant_scales(lowering, node, 1, 1);
  const auto b_scales = constant_scales(lowering, node, 4, it->columns);
  const auto y_scale = constant_scales(lowering, node, 6, 1);
  const auto y_zero = constant_numbers(lowering, node, 7, 1);
  if (!a_scale || !b_scales || !y_scale || !y_zero) return false;
  DRIFTSCOPE_TRY(const BufferId in, read_less_zero(lowering, node.inputs[0], a->zero, {}));
  const BufferId sums = lowering.scratch_value(lowering.shape(y), {});
  DRIFTSCOPE_TRY(const bool multiplied, multiply(lowering, *it, in, sums));
  Requantization how{*b_scales, (*y_zero)[0], lowering.value(y).dtype};
  for (float& scale : how.multipliers) scale = (*a_scale)[0] * scale / (*y_scale)[0];
  DRIFTSCOPE_TRY(const bool done, emit_requantized(lowering, sums, how, it->spread(), lowering.write(y, {})));
  return multiplied && done;
}

/// Sums times scales, plus a bias.
struct Scaling {
  Numbers a_scale;
  std::vector<float> b_scales;
  std::optional<std::vector<float>> bias;
};

Result<bool> emit_scaled(GpuLowering& lowering, const Multiplication& it, BufferId sums, const Scaling& how,
                         BufferId y) {
  DRIFTSCOPE_TRY(const Numbers b_scales, keep_numbers(lowering, how.b_scales));
  std::vector<Numbers> numbers = {how.a_scale, b_scales};
  if (how.bias) {
    DRIFTSCOPE_TRY(const Numbers bias, keep_numbers(lowering, *how.bias));
    numbers.push_back(bias);
  }
  return emit_with_numbers(lowering, how.bias ? "x0 * (x1 * x2) + x3" : "x0 * (x1 * x2)", {sums}, numbers,
                           it.spread(), y);
}

// The scales of B and the bias, where they are constants.
bool read_scaling(const GpuLowering& lowering, const Node& node, std::int64_t columns, std::size_t b_scale,
                  std::size_t bias, Scaling& how) {
  const auto scales = constant_scales(lowering, node, b_scale, columns);
  if (!scales) return false;
  how.b_scales = *scales;
  if (!lowering.has_input(node, bias)) return true;
  how.bias = constant_numbers(lowering, node, bias, columns);
  return how.bias.has_value();
}

Result<bool> lower_to_float(GpuLowering& lowering, const Node& node) {
  const ValueId y = node.outputs[0];
  const auto a = steps_of_a(lowering, node, 4);
  const auto it = a ? prepare(lowering, node, {.b = 1, .b_zero = 5}, a->reach) : std::nullopt;
  Scaling how;
  const ValueId a_scale = node.inputs[2];
  if (!it || !lowering.is_float(y) || !read_scaling(lowering, node, it->columns, 3, 6, how) ||
      !lowering.is_float(a_scale) || element_count(lowering.shape(a_scale)) != 1)
    return false;
  DRIFTSCOPE_TRY(how.a_scale.buffer, lowering.read(a_scale, {}));
  DRIFTSCOPE_TRY(const BufferId in, read_less_zero(lowering, node.inputs[0], a->zero, {}));
  const BufferId sums = lowering.scratch_value(lowering.shape(y), {});
  DRIFTSCOPE_TRY(const bool multiplied, multiply(lowering, *it, in, sums));
  DRIFTSCOPE_TRY(const bool done, emit_scaled(lowering, *it, sums, how, lowering.write(y, {})));
  return multiplied && done;
}

Result<bool> lower_dynamic(GpuLowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  if (!lowering.is_float(x) || !lowering.is_float(y)) return false;
  constexpr double reach = 255.0;
  const auto it = prepare(lowering, node, {.b = 1, .b_zero = 3}, reach);
  Scaling how;
  if (!it || !read_scaling(lowering, node, it->columns, 2, 4, how)) return false;
  const Shape shape = lowering.shape(x);
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, {}));
  const DynamicSteps steps{lowering.scratch_value(shape, {}), lowering.scratch_value({1}, {}),
                           lowering.scratch_value({1}, {})};
  DRIFTSCOPE_TRY(const bool quantized, emit_dynamic_steps(lowering, in, element_count(shape), steps));
  const BufferId less = lowering.scratch_value(shape, {});
  DRIFTSCOPE_TRY(const bool moved, emit_with_numbers(lowering, "x0 - x1", {steps.steps}, {{steps.zero}},
                                                     {.outer = element_count(shape)}, less));
  const BufferId sums = lowering.scratch_value(lowering.shape(y), {});
  DRIFTSCOPE_TRY(const bool multiplied, multiply(lowering, *it, less, sums));
  how.a_scale.buffer = steps.scale;
  DRIFTSCOPE_TRY(const bool done, emit_scaled(lowering, *it, sums, how, lowering.write(y, {})));
  return quantized && moved && multiplied && done;
}

// C, an int32 row or number that is added to the sums; nothing where it is anything else.
std::optional<std::vector<float>> row_of(const GpuLowering& lowering, const Node& node, std::size_t input,
                                         std::int64_t columns) {
  if (!lowering.has_input(node, input)) return std::vector<float>();
  const Tensor* const c = lowering.constant(node.inputs[input]);
  if (c == nullptr || (c->elements() != 1 && (c->shape().empty() || c->shape().back() != columns)))
    return std::nullopt;
  auto row = constant_numbers(lowering, node, input, columns);
  if (row && row->size() == 1) row->resize(static_cast<std::size_t>(columns), (*row)[0]);
  return row;
}

Result<bool> lower_gemm(GpuLowering& lowering, const Node& node) {
  const ValueId y = node.outputs[0];
  DRIFTSCOPE_TRY(const float alpha, float_attribute(node, "alpha", 1.0f));
  DRIFTSCOPE_TRY(const std::int64_t turns_a, int_attribute(node, "transA", 0));
  DRIFTSCOPE_TRY(const std::int64_t turns_b, int_attribute(node, "transB", 0));
  const Tensor* const b = lowering.constant(node.inputs[3]);
  if (alpha != 1.0f || turns_a != 0 || b == nullptr || b->shape().size() != 2) return false;
  const auto a = steps_of_a(lowering, node, 2);
  const auto bias = row_of(lowering, node, 6, b->shape()[turns_b != 0 ? 0 : 1]);
  if (!a || !bias) return false;
  const auto it =
      prepare(lowering, node, {.b = 3, .b_zero = 5, .b_transposed = turns_b != 0}, a->reach, *bias);
  if (!it) return false;
  const auto a_scale = constant_scales(lowering, node, 1, 1);
  const auto b_scales = constant_scales(lowering, node, 4, it->columns);
  const bool quantizes = lowering.has_input(node, 7);
  const auto y_scale = quantizes ? constant_scales(lowering, node, 7, 1) : std::vector<float>{1.0f};
  const auto y_zero = constant_numbers(lowering, node, 8, 1);
  if (!a_scale || !b_scales || !y_scale || !y_zero ||
      !(quantizes ? lowering.is_byte(y) : lowering.is_float(y)))
    return false;
  DRIFTSCOPE_TRY(const BufferId in, read_less_zero(lowering, node.inputs[0], a->zero, {}));
  const BufferId sums = lowering.scratch_value(lowering.shape(y), {});
  DRIFTSCOPE_TRY(const bool multiplied, multiply(lowering, *it, in, sums, *bias));
  const BufferId out = lowering.write(y, {});
  if (!quantizes) {
    Scaling how;
    how.b_scales = *b_scales;
    DRIFTSCOPE_TRY(how.a_scale, keep_numbers(lowering, *a_scale));
    DRIFTSCOPE_TRY(const bool done, emit_scaled(lowering, *it, sums, how, out));
    return multiplied && done;
  }
  Requantization how{*b_scales, (*y_zero)[0], lowering.value(y).dtype};
  for (float& scale : how.multipliers) scale = (*a_scale)[0] * scale / (*y_scale)[0];
  DRIFTSCOPE_TRY(const bool done, emit_requantized(lowering, sums, how, it->spread(), out));
  return multiplied && done;
}

void add_to(GpuOperatorTable& table) {
  table.add("MatMulInteger", lower_integer);
  table.add("QLinearMatMul", lower_qlinear);
  table.add("com.microsoft.MatMulIntegerToFloat", lower_to_float);
  table.add("com.microsoft.DynamicQuantizeMatMul", lower_dynamic);
  table.add("com.microsoft.QGemm", lower_gemm);
}

}  // namespace driftscope::gpu::integer_matmul
