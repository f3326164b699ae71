// What operators on integers of 8 bits share on GPU engines. Devices hold such integers as float32
// (GpuLowering::is_byte), where their products and sums are exact as long as no partial sum can exceed 2^24:
// that is found from the constant weights while planning, so that no integer arithmetic is needed and the
// float kernels serve. Clients: operators/quantize.cpp, integer_conv.cpp, integer_matmul.cpp,
// qlinear_elementwise.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/engines/gpu/lowering.hpp"

namespace driftscope::gpu {

/// The elements of a value in the order of memory, where numbers belong to the indices of one axis.
struct Spread {
  std::int64_t outer = 1;
  std::int64_t size = 1;  ///< of that axis
  std::int64_t inner = 1;
  [[nodiscard]] std::int64_t count() const { return outer * size * inner; }
};

/// One number for all elements, or one for each index of the axis.
struct Numbers {
  BufferId buffer = no_buffer;
  bool each = false;
};

/// Constants, which are one or as many as the axis has.
[[nodiscard]] Result<Numbers> keep_numbers(GpuLowering& lowering, const std::vector<float>& values);

/// `expression` of x0, x1, …: elements of `values`, which lie as the result does, and then of `numbers`.
/// False where a shader cannot read as many.
[[nodiscard]] Result<bool> emit_with_numbers(GpuLowering& lowering, std::string expression,
                                             std::vector<BufferId> values,
                                             const std::vector<Numbers>& numbers, const Spread& spread,
                                             BufferId out);

/// The constants of an input as numbers; those of an input that is not given are one 0. Nothing where they
/// are computed, neither float32 nor integers, or not 1 or `each` of them.
[[nodiscard]] std::optional<std::vector<float>> constant_numbers(const GpuLowering& lowering,
                                                                 const Node& node, std::size_t input,
                                                                 std::int64_t each);
/// The same of scales: finite and above 0.
[[nodiscard]] std::optional<std::vector<float>> constant_scales(const GpuLowering& lowering, const Node& node,
                                                                std::size_t input, std::int64_t each);

/// The zero point of a value: a constant, or one that is computed.
struct ZeroPoint {
  std::optional<float> known = 0.0f;
  ValueId computed = no_value;
};
/// Of a value of type `of`; nothing where there are several, or it has another type.
[[nodiscard]] std::optional<ZeroPoint> zero_point(const GpuLowering& lowering, const Node& node,
                                                  std::size_t input, DType of);

/// Whether a matrix of 8-bit integers is as float32 still small enough for one object of the device.
[[nodiscard]] bool fits_as_floats(const GpuLowering& lowering, std::int64_t rows, std::int64_t columns);

/// The largest |x − zero point|.
[[nodiscard]] double reach_of(DType dtype, const ZeroPoint& zero);
/// x − zero point in this layout.
[[nodiscard]] Result<BufferId> read_less_zero(GpuLowering& lowering, ValueId x, const ZeroPoint& zero,
                                              Layout layout);

/// Whether Σ|w|·reach + |bias| of every output is at most 2^24. `weight`: of output and number; `bias` may be
/// empty.
[[nodiscard]] bool sums_are_exact(std::int64_t outputs, std::int64_t depth,
                                  const std::function<float(std::int64_t, std::int64_t)>& weight,
                                  double reach, std::span<const float> bias);

/// "clamp(round({number}) + zero, …)": to the nearest step of an 8-bit type, ties to even; `zero` may be
/// empty.
[[nodiscard]] std::string step_text(const std::string& number, const std::string& zero, DType dtype);

/// y = step(sum · a_scale · w_scale / y_scale) + zero, with a scale w for each index of the axis.
struct Requantization {
  std::vector<float> multipliers;
  float zero = 0.0f;
  DType dtype = DType::uint8;
};
[[nodiscard]] Result<bool> emit_requantized(GpuLowering& lowering, BufferId sums, const Requantization& how,
                                            const Spread& spread, BufferId out);

/// What DynamicQuantizeLinear makes of a value.
struct DynamicSteps {
  BufferId steps = no_buffer;
  BufferId scale = no_buffer;
  BufferId zero = no_buffer;
};
/// Into these buffers, from the value in the order of memory.
[[nodiscard]] Result<bool> emit_dynamic_steps(GpuLowering& lowering, BufferId x, std::int64_t count,
                                              const DynamicSteps& into);

}  // namespace driftscope::gpu
