// Reads a convolution with constant weights, in one and two dimensions, and chooses how it is computed.
// Clients: operators/conv.cpp, the shaders with windows. It emits nothing.
#pragma once

#include <optional>

#include "core/engines/gpu/lowering.hpp"

namespace driftscope::gpu {

/// Nothing where the weights are not constants, or of another type or rank.
[[nodiscard]] std::optional<ConvParts> conv_parts(const GpuLowering& lowering, const Node& node);
/// Of a node with the attributes of Conv, from an input of this shape; `w` and `bias` (which may be empty)
/// must outlive the parts.
[[nodiscard]] std::optional<ConvParts> conv_parts(const Node& node, const Shape& x, const Tensor& w,
                                                  std::span<const float> bias);

enum class ConvKernel : std::uint8_t {
  product,    ///< of the windows with the weights
  depthwise,  ///< each channel by itself, some at once
  any,        ///< one output after the other
};
/// `depthwise_unit`: how many channels at once the engine's shader needs.
[[nodiscard]] ConvKernel choose_conv_kernel(std::int64_t groups, std::int64_t outputs, std::int64_t channels,
                                            std::int64_t depthwise_unit);

/// IN_H, OUT_H, KERNEL_H, STRIDE_Y, DILATION_Y, PAD_Y and the same of the width.
[[nodiscard]] ShaderValues window_values(const lowering::Window2d& window);

}  // namespace driftscope::gpu
