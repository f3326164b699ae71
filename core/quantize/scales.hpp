// The arithmetic of linear quantization: real = (step − zero_point) · scale, one scale for a tensor, for each
// slice of an axis, or for each block along it. Clients: the modes that store integers. It knows no models.
//
// Scales follow ONNX Runtime's quantizer (compute_scale_zp, quantize_nparray): the range is widened to hold
// 0, scales are computed in double and rounded to float32, elements are divided in float32, ties go to even.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/tensor.hpp"

namespace driftscope::quantize {

/// Steps low to high.
struct StepRange {
  std::int32_t low = 0;
  std::int32_t high = 0;
};
inline constexpr StepRange uint8_steps{0, 255};
inline constexpr StepRange int8_symmetric{-127, 127};
inline constexpr StepRange uint4_steps{0, 15};
inline constexpr StepRange int4_symmetric{-7, 7};

struct Affine {
  float scale = 1.0F;
  std::int32_t zero_point = 0;
};

/// The scale at which `low` to `high`, and 0, fall on the steps. A range too small for a normal scale has the
/// scale 1 and the zero point 0.
[[nodiscard]] Affine affine(float low, float high, StepRange steps);
/// With the zero point 0: −m to m, m the larger magnitude; `steps` must be symmetric.
[[nodiscard]] Affine symmetric(float low, float high, StepRange steps);

/// saturate(round(x ÷ scale) + zero_point).
[[nodiscard]] std::int32_t step_of(float x, Affine how, StepRange steps);

/// Which elements share a scale.
struct Grouping {
  enum class Kind { tensor, axis, block } kind = Kind::tensor;
  std::size_t axis = 0;
  std::int64_t block = 0;  ///< elements along the axis, of Kind::block
};
inline constexpr Grouping whole_tensor{};
[[nodiscard]] constexpr Grouping along(std::size_t axis) { return {Grouping::Kind::axis, axis, 0}; }
[[nodiscard]] constexpr Grouping blocks(std::size_t axis, std::int64_t size) {
  return {Grouping::Kind::block, axis, size};
}

/// A tensor as DequantizeLinear reads it.
struct Quantized {
  Tensor steps;
  Tensor scales;  ///< float32: scalar, [size of the axis], or the tensor's shape with blocks for the axis
  Tensor zero_points;  ///< of the same shape, of the type of the steps
};

/// Of finite float32 elements. `dtype`: uint8, int8, uint4 or int4. Symmetric: int types; affine: uint types.
/// Errors: memory.
[[nodiscard]] Result<Quantized> quantize_tensor(const Tensor& weight, DType dtype, Grouping grouping);

/// What the steps stand for, as float32.
[[nodiscard]] Result<Tensor> dequantized(const Quantized& quantized, Grouping grouping);

/// round(bias ÷ (x_scale · w_scale)) as int32, the scale being the product in float32: one for all or one per
/// element. `clipped`: how many do not fit in 32 bits and became the nearest that does.
struct QuantizedBias {
  Tensor steps;
  Tensor scales;
  std::int64_t clipped = 0;
};
[[nodiscard]] Result<QuantizedBias> quantize_bias(const Tensor& bias, float x_scale, const Tensor& w_scales);

}  // namespace driftscope::quantize
