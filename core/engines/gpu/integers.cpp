// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/gpu/integers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/lowering/numbers.hpp"
#include "core/lowering/quantized.hpp"

namespace driftscope::gpu {
namespace {

constexpr double largest_exact = 16'777'216.0;  // 2^24

bool is_small_integer(DType dtype) {
  return dtype == DType::int8 || dtype == DType::uint8 || dtype == DType::int32;
}

constexpr Reduction largest = {"-3.4028234663852886e38", "max(part, v)", Reduction::Join::largest, "whole"};
constexpr Reduction smallest = {"-3.4028234663852886e38", "max(part, -v)", Reduction::Join::largest,
                                "-whole"};

}  // namespace

Result<Numbers> keep_numbers(GpuLowering& lowering, const std::vector<float>& values) {
  DRIFTSCOPE_TRY(const BufferId buffer, lowering.keep_padded(values));
  return Numbers{buffer, values.size() > 1};
}

Result<bool> emit_with_numbers(GpuLowering& lowering, std::string expression, std::vector<BufferId> values,
                               const std::vector<Numbers>& numbers, const Spread& spread, BufferId out) {
  std::vector<WalkAxis> axes = {{spread.outer, {}}, {spread.size, {}}, {spread.inner, {}}};
  const auto walk = [&axes](std::int64_t outer, std::int64_t middle, std::int64_t inner) {
    axes[0].strides.push_back(outer);
    axes[1].strides.push_back(middle);
    axes[2].strides.push_back(inner);
  };
  for (std::size_t i = 0; i < values.size(); ++i) walk(spread.size * spread.inner, spread.inner, 1);
  for (const Numbers& it : numbers) {
    walk(0, it.each ? 1 : 0, 0);
    values.push_back(it.buffer);
  }
  if (values.size() > lowering.max_inputs()) return false;
  return lowering.emit_elementwise({std::move(expression), spread.count(), joined(axes)}, std::move(values),
                                   out);
}

std::optional<std::vector<float>> constant_numbers(const GpuLowering& lowering, const Node& node,
                                                   std::size_t input, std::int64_t each) {
  if (!lowering.has_input(node, input)) return std::vector<float>{0.0f};
  const Tensor* const given = lowering.constant(node.inputs[input]);
  if (given == nullptr || (given->elements() != 1 && given->elements() != each)) return std::nullopt;
  std::vector<float> numbers(static_cast<std::size_t>(given->elements()));
  if (given->dtype() == DType::float32)
    std::ranges::copy(given->values<float>(), numbers.begin());
  else if (is_small_integer(given->dtype()))
    to_float32(given->dtype(), given->bytes(), numbers);
  else
    return std::nullopt;
  const bool exact = std::ranges::all_of(numbers, [](float x) { return std::fabs(x) < largest_exact; });
  if (given->dtype() == DType::int32 && !exact) return std::nullopt;
  if (std::ranges::all_of(numbers, [&](float x) { return x == numbers[0]; })) numbers.resize(1);
  return numbers;
}

std::optional<std::vector<float>> constant_scales(const GpuLowering& lowering, const Node& node,
                                                  std::size_t input, std::int64_t each) {
  auto scales = constant_numbers(lowering, node, input, each);
  if (!scales || !std::ranges::all_of(*scales, [](float x) { return x > 0.0f && std::isnormal(x); }))
    return std::nullopt;
  return scales;
}

bool fits_as_floats(const GpuLowering& lowering, std::int64_t rows, std::int64_t columns) {
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(float));
  return columns + 3 <= lowering.facts().max_object_bytes / bytes / (rows + 3);  // both are padded to fours
}

std::optional<ZeroPoint> zero_point(const GpuLowering& lowering, const Node& node, std::size_t input,
                                    DType of) {
  if (!lowering.has_input(node, input)) return ZeroPoint{};
  const ValueId id = node.inputs[input];
  if (lowering.value(id).dtype != of || !lowering.is_byte(id) || element_count(lowering.shape(id)) != 1)
    return std::nullopt;
  if (const auto known = constant_numbers(lowering, node, input, 1)) return ZeroPoint{(*known)[0], no_value};
  return ZeroPoint{std::nullopt, id};
}

double reach_of(DType dtype, const ZeroPoint& zero) {
  const double low = min_of(dtype);
  const double high = max_of(dtype);
  return zero.known ? std::max(high - double{*zero.known}, double{*zero.known} - low) : high - low;
}

Result<BufferId> read_less_zero(GpuLowering& lowering, ValueId x, const ZeroPoint& zero, Layout layout) {
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, layout));
  if (zero.known == 0.0f) return in;
  Numbers number;
  if (zero.known) {
    DRIFTSCOPE_TRY(number, keep_numbers(lowering, {*zero.known}));
  } else {
    DRIFTSCOPE_TRY(number.buffer, lowering.read(zero.computed, {}));
  }
  const Shape shape = lowering.shape(x);
  const BufferId out = lowering.scratch_value(shape, layout);
  DRIFTSCOPE_TRY(const bool done, emit_with_numbers(lowering, "x0 - x1", {in}, {number},
                                                    {.outer = element_count(shape)}, out));
  return done ? Result<BufferId>(out) : internal_error("a zero point was not subtracted");
}

bool sums_are_exact(std::int64_t outputs, std::int64_t depth,
                    const std::function<float(std::int64_t, std::int64_t)>& weight, double reach,
                    std::span<const float> bias) {
  for (std::int64_t o = 0; o < outputs; ++o) {
    double size =
        bias.empty() ? 0.0 : std::fabs(double{bias[bias.size() == 1 ? 0 : static_cast<std::size_t>(o)]});
    for (std::int64_t i = 0; i < depth; ++i) size += std::fabs(double{weight(o, i)}) * reach;
    if (size > largest_exact) return false;
  }
  return true;
}

std::string step_text(const std::string& number, const std::string& zero, DType dtype) {
  return fmt::format("clamp(round({}){}{}, T({}), T({}))", number, zero.empty() ? "" : " + ", zero,
                     float_text(static_cast<float>(min_of(dtype))),
                     float_text(static_cast<float>(max_of(dtype))));
}

Result<bool> emit_requantized(GpuLowering& lowering, BufferId sums, const Requantization& how,
                              const Spread& spread, BufferId out) {
  DRIFTSCOPE_TRY(const Numbers multipliers, keep_numbers(lowering, how.multipliers));
  std::vector<Numbers> numbers = {multipliers};
  if (how.zero != 0.0f) {
    DRIFTSCOPE_TRY(const Numbers zero, keep_numbers(lowering, {how.zero}));
    numbers.push_back(zero);
  }
  return emit_with_numbers(lowering, step_text("x0 * x1", how.zero == 0.0f ? "" : "x2", how.dtype), {sums},
                           numbers, spread, out);
}

Result<bool> emit_dynamic_steps(GpuLowering& lowering, BufferId x, std::int64_t count,
                                const DynamicSteps& into) {
  const Lanes whole{.outer = 1, .size = count, .inner = 1};
  const BufferId high = lowering.scratch_value({1}, {});
  const BufferId low = lowering.scratch_value({1}, {});
  DRIFTSCOPE_TRY(const bool found_high, lowering.emit_reduction(largest, whole, x, high));
  DRIFTSCOPE_TRY(const bool found_low, lowering.emit_reduction(smallest, whole, x, low));
  const std::string range = "(max(x0, T(0.0)) - min(x1, T(0.0)))";
  DRIFTSCOPE_TRY(
      const bool scaled,
      emit_with_numbers(lowering, fmt::format("select({0} / 255.0, T(1.0), is_equal({0}, T(0.0)))", range),
                        {high}, {{low}}, {}, into.scale));
  DRIFTSCOPE_TRY(const bool zeroed,
                 emit_with_numbers(lowering, step_text("-min(x0, T(0.0)) / x1", "", DType::uint8), {low},
                                   {{into.scale}}, {}, into.zero));
  DRIFTSCOPE_TRY(const bool stepped,
                 emit_with_numbers(lowering, step_text("x0 / x1", "x2", DType::uint8), {x},
                                   {{into.scale}, {into.zero}}, {.outer = count}, into.steps));
  return found_high && found_low && scaled && zeroed && stepped;
}

}  // namespace driftscope::gpu
