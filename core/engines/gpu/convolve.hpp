// A convolution with constant weights: a product of the windows with the weights, each channel by itself, or
// one output after the other. Clients: operators/conv.cpp, operators/integer_conv.cpp.
#pragma once

#include "core/engines/gpu/conv_parts.hpp"

namespace driftscope::gpu {

/// The parts, and where they lie on the device, channels last.
struct PlacedConv {
  ConvParts parts = {};
  BufferId in = no_buffer;
  BufferId addend = no_buffer;  ///< only where the kernel is a product
  BufferId out = no_buffer;
  Clamp clamp = {};
  std::int64_t pixels = 0;  ///< of the result
};

[[nodiscard]] ConvKernel conv_kernel(const GpuLowering& lowering, const ConvParts& parts);
/// To be asked before a result is begun.
[[nodiscard]] bool can_convolve(const GpuLowering& lowering, const ConvParts& parts);
[[nodiscard]] Result<bool> emit_convolution(GpuLowering& lowering, const PlacedConv& it);

}  // namespace driftscope::gpu
