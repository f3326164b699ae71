// The quantization around a node: inputs from DequantizeLinear, results that go into
// QuantizeLinear. Such a node can run on the integers themselves. Clients: the operators of engines.
#pragma once

#include <optional>
#include <vector>

#include "core/lowering/graph_lowering.hpp"

namespace driftscope::lowering {

/// real = (integer − zero_point)·scale, one scale for all or one per channel; int8 or uint8.
struct Quantization {
  std::vector<float> scales;
  std::int32_t zero_point = 0;
  DType dtype = DType::int8;
  [[nodiscard]] float scale() const { return scales[0]; }
};

/// From the constants of a node; `zero_point` may be no_value. Nothing where they are not known, where a
/// scale is not a positive number, or where zero points differ.
[[nodiscard]] std::optional<Quantization> quantization_of(const GraphLowering& lowering, ValueId scale,
                                                          ValueId zero_point, DType dtype);

/// A value that a DequantizeLinear computes from `source`.
struct Dequantized {
  ValueId source = no_value;
  Quantization how;
  std::int64_t axis = 1;  ///< of the scales, where there are several
};
[[nodiscard]] std::optional<Dequantized> dequantized(const GraphLowering& lowering, ValueId value);

/// The node's result goes, perhaps through Relu, into one QuantizeLinear and nowhere else.
struct Quantized {
  Fusion fusion;  ///< its output: the integers
  Quantization how;
  std::int32_t min = 0;  ///< range of the resulting integers
  std::int32_t max = 0;
};
[[nodiscard]] std::optional<Quantized> quantized_behind(const GraphLowering& lowering, const Node& node);

/// The smallest and largest integer of int8 or uint8.
[[nodiscard]] std::int32_t min_of(DType dtype);
[[nodiscard]] std::int32_t max_of(DType dtype);

/// Constant int8 weights with zero points of 0, or null.
[[nodiscard]] const Tensor* int8_weights(const GraphLowering& lowering, ValueId id, const Quantization& how);

/// The int32 constants that a DequantizeLinear with the scales of the products reads; nothing where
/// they are anything else.
[[nodiscard]] std::optional<std::vector<std::int32_t>> dequantized_bias(const GraphLowering& lowering,
                                                                        ValueId id, float x_scale,
                                                                        const std::vector<float>& w_scales);

}  // namespace driftscope::lowering
