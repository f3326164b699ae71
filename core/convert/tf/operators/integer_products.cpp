// DynamicQuantizeLinear and MatMulInteger by float operators: integers up to 2²⁴ are exact in float32.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/convert/tf/lowering.hpp"

namespace driftscope::tf::operators::integer_products {
namespace {

constexpr std::int64_t largest_level = 255;  // of a number of 8 bits without its zero point
constexpr std::int64_t largest_product = largest_level * largest_level;
constexpr std::int64_t exact_up_to = std::int64_t{1} << 24;
constexpr std::int64_t max_parts = 65;

std::vector<float> as_floats(const Tensor& tensor) {
  std::vector<float> numbers;
  visit_plain_integer(tensor.dtype(), [&]<class E>() {
    for (const auto value : tensor.values<typename E::Stored>()) numbers.push_back(static_cast<float>(value));
  });
  return numbers;
}

// Of matrices whose leading axes are broadcast.
Shape product_shape(const Shape& a, const Shape& b) {
  Shape y(std::max(a.size(), b.size()), 1);
  for (const Shape* one : {&a, &b})
    for (std::size_t i = 0; i + 2 < one->size(); ++i) {
      std::int64_t& size = y[y.size() - one->size() + i];
      if ((*one)[i] != 1) size = (*one)[i];
    }
  y[y.size() - 2] = a[a.size() - 2];
  y[y.size() - 1] = b.back();
  return y;
}

Result<std::string> extreme(Lowering& lowering, const std::string& x, std::string_view op) {
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < lowering.info(x).shape.size(); ++i)
    axes.push_back(static_cast<std::int64_t>(i));
  DRIFTSCOPE_TRY(const std::string all, lowering.ints(axes, "axes"));
  return lowering.make(op, op, {x, all}, {{"keep_dims", false}}, {DType::float32, {}, {}});
}

// As core/ops/dynamic_quantize_linear.cpp: the range contains 0, and the scale of zeros alone is 1.
Status lower_dynamic(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(const std::string x, lowering.read(node.inputs[0]));
  const std::string zero = lowering.number(0.0), one = lowering.number(1.0), levels = lowering.number(255.0);
  DRIFTSCOPE_TRY(const std::string smallest, extreme(lowering, x, "Min"));
  DRIFTSCOPE_TRY(const std::string largest, extreme(lowering, x, "Max"));
  const std::string low = lowering.elementwise("low", "Minimum", {smallest, zero});
  const std::string high = lowering.elementwise("high", "Maximum", {largest, zero});
  const std::string range = lowering.elementwise("range", "Sub", {high, low});
  const std::string step = lowering.elementwise("step", "RealDiv", {range, levels});
  const std::string is_zero = lowering.elementwise("is_zero", "Equal", {step, zero}, DType::boolean);
  const std::string scale = lowering.elementwise("scale", "SelectV2", {is_zero, one, step}, DType::float32);
  const auto clipped = [&](std::string_view suffix, const std::string& value) {
    return lowering.elementwise(suffix, "Minimum",
                                {lowering.elementwise("at_least", "Maximum", {value, zero}), levels});
  };
  const std::string below = lowering.elementwise("below", "Sub", {zero, low});
  const std::string place = clipped("place", lowering.elementwise("steps_below", "RealDiv", {below, scale}));
  const std::string point = lowering.elementwise("point", "Round", {place});
  const std::string steps =
      lowering.elementwise("rounded", "Round", {lowering.elementwise("steps", "RealDiv", {x, scale})});
  const std::string value = clipped("value", lowering.elementwise("shifted", "AddV2", {steps, point}));
  const Attributes to_integer = {{"SrcT", DType::float32},
                                 {"DstT", lowering.dialect().quantized ? DType::uint8 : DType::int32}};
  DRIFTSCOPE_CHECK(lowering.give(node.outputs[0], "Cast", {value}, to_integer));
  if (Lowering::has_output(node, 1)) DRIFTSCOPE_CHECK(lowering.give_same(node.outputs[1], scale));
  if (Lowering::has_output(node, 2))
    DRIFTSCOPE_CHECK(lowering.give(node.outputs[2], "Cast", {point}, to_integer));
  return {};
}

// A factor without its zero point, as floats. Of the left one a zero point may belong to each row.
Result<std::string> factor(Lowering& lowering, const OnnxNode& node, std::size_t input,
                           std::size_t zero_point) {
  const auto as_float = [&](std::size_t i, std::string_view suffix) -> Result<std::string> {
    DRIFTSCOPE_TRY(const std::string given, lowering.read(node.inputs[i]));
    const TensorInfo info = lowering.info(given);
    return lowering.make(suffix, "Cast", {given}, {{"SrcT", info.dtype}, {"DstT", DType::float32}},
                         {DType::float32, info.shape, {}});
  };
  DRIFTSCOPE_TRY(const std::string value, as_float(input, "factor"));
  if (!Lowering::has_input(node, zero_point)) return value;
  DRIFTSCOPE_TRY(std::string zero, as_float(zero_point, "zero_point"));
  const Shape own = lowering.info(zero).shape;
  if (input == 0 && own.size() == 1 && own[0] != 1) {
    DRIFTSCOPE_TRY(zero, lowering.reshape("zero_points", zero, {own[0], 1}));
  } else if (element_count(own) == 1) {
    DRIFTSCOPE_TRY(zero, lowering.reshape("zero_points", zero, {}));
  }
  return lowering.elementwise("centred", "Sub", {value, zero});
}

// The right factor where it and its zero points are known: weights, without their zero points.
Result<std::optional<Tensor>> known_weights(const Lowering& lowering, const OnnxNode& node) {
  const Tensor* const b = lowering.constant(node.inputs[1]);
  const Tensor* const zeros = Lowering::has_input(node, 3) ? lowering.constant(node.inputs[3]) : nullptr;
  if (b == nullptr || (Lowering::has_input(node, 3) && zeros == nullptr)) return std::optional<Tensor>();
  const auto columns = static_cast<std::size_t>(b->shape().back());
  const auto count = zeros == nullptr ? 0 : static_cast<std::size_t>(zeros->elements());
  const bool by_column = zeros != nullptr && zeros->rank() == 1 && count == columns;
  if (zeros != nullptr && count != 1 && !by_column) return std::optional<Tensor>();
  const auto numbers = as_floats(*b);
  const auto points = zeros == nullptr ? std::vector<float>{0.0f} : as_floats(*zeros);
  DRIFTSCOPE_TRY(Tensor made, Tensor::unwritten(DType::float32, b->shape(), "weights"));
  const auto values = made.mutable_values<float>();
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = numbers[i] - points[by_column ? i % columns : 0];
  return std::optional(std::move(made));
}

// Where sums must be cut so that none goes beyond what float32 holds exactly: [0, …, K]. Of known weights it
// is how large they are that counts.
std::vector<std::int64_t> cuts_of(std::int64_t inner, const std::optional<Tensor>& weights) {
  std::vector<std::int64_t> cuts = {0};
  if (!weights) {
    for (std::int64_t at = exact_up_to / largest_product; at < inner; at += exact_up_to / largest_product)
      cuts.push_back(at);
    cuts.push_back(inner);
    return cuts;
  }
  const auto values = weights->values<float>();
  const auto columns = static_cast<std::size_t>(weights->shape().back());
  const std::size_t matrix = static_cast<std::size_t>(inner) * columns;
  const std::size_t matrices = matrix == 0 ? 0 : values.size() / matrix;
  std::vector<std::int64_t> sums(matrices * columns, 0);  // of sizes, by column
  for (std::int64_t k = 0; k < inner; ++k) {
    const auto size = [&](std::size_t m, std::size_t column) {
      return static_cast<std::int64_t>(
          std::fabs(values[m * matrix + static_cast<std::size_t>(k) * columns + column]));
    };
    bool fits = true;
    for (std::size_t m = 0; m < matrices && fits; ++m)
      for (std::size_t column = 0; column < columns && fits; ++column)
        fits = (sums[m * columns + column] + size(m, column)) * largest_level <= exact_up_to;
    if (!fits) {
      cuts.push_back(k);
      std::ranges::fill(sums, 0);
    }
    for (std::size_t m = 0; m < matrices; ++m)
      for (std::size_t column = 0; column < columns; ++column) sums[m * columns + column] += size(m, column);
  }
  cuts.push_back(inner);
  return cuts;
}

// Indices [begin, end) of an axis.
Result<std::string> part_of(Lowering& lowering, const std::string& tensor, std::size_t axis,
                            std::int64_t begin, std::int64_t end) {
  TensorInfo info = lowering.info(tensor);
  if (begin == 0 && end == info.shape[axis]) return tensor;
  std::vector<std::int64_t> from(info.shape.size(), 0);
  from[axis] = begin;
  info.shape[axis] = end - begin;
  DRIFTSCOPE_TRY(const std::string first, lowering.ints(from, "begin"));
  DRIFTSCOPE_TRY(const std::string sizes, lowering.ints(info.shape, "size"));
  return lowering.make("part", "Slice", {tensor, first, sizes}, {}, std::move(info));
}

// The same of weights.
Result<std::string> rows_of(Lowering& lowering, const Tensor& weights, std::int64_t begin, std::int64_t end) {
  Shape shape = weights.shape();
  const auto inner = static_cast<std::size_t>(shape[shape.size() - 2]);
  const auto columns = static_cast<std::size_t>(shape.back());
  shape[shape.size() - 2] = end - begin;
  DRIFTSCOPE_TRY(Tensor rows, Tensor::unwritten(DType::float32, shape, "weights"));
  const auto from = weights.values<float>();
  auto to = rows.mutable_values<float>();
  const auto taken = static_cast<std::size_t>(end - begin) * columns;
  for (std::size_t m = 0; taken > 0 && m < to.size() / taken; ++m)
    std::ranges::copy(from.subspan(m * inner * columns + static_cast<std::size_t>(begin) * columns, taken),
                      to.subspan(m * taken, taken).begin());
  return lowering.constant(rows, "weights");
}

// A vector is a row on the left, a column on the right; parts of the sums are added as integers.
Status lower_matmul(Lowering& lowering, const OnnxNode& node) {
  Shape a = lowering.shape(node.inputs[0]);
  Shape b = lowering.shape(node.inputs[1]);
  const std::int64_t inner = a.back();
  DRIFTSCOPE_TRY(const std::optional<Tensor> weights,
                 b.size() == 1 ? Result<std::optional<Tensor>>(std::nullopt) : known_weights(lowering, node));
  const std::vector<std::int64_t> cuts = cuts_of(inner, weights);
  if (static_cast<std::int64_t>(cuts.size()) > max_parts)
    return unsupported(
        fmt::format("sums of {} products of 8-bit integers would have to be cut into {} parts, of which "
                    "float32 holds each "
                    "exactly; at most {} are written",
                    inner, cuts.size() - 1, max_parts - 1));
  DRIFTSCOPE_TRY(std::string left, factor(lowering, node, 0, 2));
  std::string right;
  if (!weights) {
    DRIFTSCOPE_TRY(right, factor(lowering, node, 1, 3));
  }
  if (a.size() == 1) {
    a.insert(a.begin(), 1);
    DRIFTSCOPE_TRY(left, lowering.reshape("row", left, a));
  }
  if (b.size() == 1) {
    b.push_back(1);
    DRIFTSCOPE_TRY(right, lowering.reshape("column", right, b));
  }
  const Shape y = product_shape(a, b);
  const bool matrices = a.size() == 2 && b.size() == 2;
  const Attributes attributes = matrices ? Attributes{{"transpose_a", false}, {"transpose_b", false}}
                                         : Attributes{{"adj_x", false}, {"adj_y", false}};
  std::string sum;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    DRIFTSCOPE_TRY(const std::string rows, part_of(lowering, left, a.size() - 1, cuts[i], cuts[i + 1]));
    DRIFTSCOPE_TRY(const std::string columns,
                   weights ? rows_of(lowering, *weights, cuts[i], cuts[i + 1])
                           : part_of(lowering, right, b.size() - 2, cuts[i], cuts[i + 1]));
    const std::string real = lowering.make("sums", matrices ? "MatMul" : "BatchMatMulV2", {rows, columns},
                                           attributes, {DType::float32, y, {}});
    const std::string whole = lowering.make(
        "whole", "Cast", {real}, {{"SrcT", DType::float32}, {"DstT", DType::int32}}, {DType::int32, y, {}});
    sum = i == 0 ? whole : lowering.elementwise("sum", "AddV2", {sum, whole});
  }
  return lowering.give_reshaped(node.outputs[0], sum);
}

}  // namespace

void add_to(OperatorTable& table) {
  table.add("DynamicQuantizeLinear", lower_dynamic);
  table.add("MatMulInteger", lower_matmul);
}

}  // namespace driftscope::tf::operators::integer_products
