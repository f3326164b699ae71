// What a convolution with constant weights consists of, in one and two dimensions. Clients: the Conv
// operators of GPU engines. It emits nothing.
#pragma once

#include <optional>
#include <span>

#include "core/engines/gpu/lowering.hpp"
#include "core/lowering/window2d.hpp"

namespace driftscope::gpu {

struct ConvParts {
  const Tensor* w = nullptr;
  std::span<const float> bias;
  lowering::Window2d window;
  std::int64_t groups = 1;
  std::int64_t outputs = 0;
  std::int64_t channels = 0;  ///< of one group
  std::int64_t taps = 0;
};

/// Nothing where the weights are not constants, or of another type or rank.
[[nodiscard]] std::optional<ConvParts> conv_parts(const GpuLowering& lowering, const Node& node);

/// IN_H, OUT_H, KERNEL_H, STRIDE_Y, DILATION_Y, PAD_Y and the same of the width.
[[nodiscard]] ShaderValues window_values(const lowering::Window2d& window);

}  // namespace driftscope::gpu
