// The geometry of windows that spread each input over several outputs: ConvTranspose, opset 1 to 21. It
// touches no data. Clients: the plain and the strict kernel of ConvTranspose.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.hpp"
#include "core/graph/attributes.hpp"

namespace driftscope {

/// One spatial axis: output o receives tap k of input i where o = i·stride − pad + k·dilation.
struct TransposedAxis {
  std::int64_t input = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad = 0;
  std::int64_t output = 0;

  /// The input that tap k of output o reads, −1 when there is none.
  [[nodiscard]] std::int64_t source(std::int64_t o, std::int64_t k) const {
    const std::int64_t distance = o + pad - k * dilation;
    if (distance < 0 || distance % stride != 0) return -1;
    return distance / stride < input ? distance / stride : -1;
  }
};

/// From the attributes for a kernel of this shape and spatial sizes of X that are all known. Errors: an
/// attribute of the wrong length, an output size that overflows or is negative.
[[nodiscard]] Result<std::vector<TransposedAxis>> place_transposed(const Node& node, const Ints& kernel,
                                                                   std::span<const std::int64_t> spatial);

}  // namespace driftscope
