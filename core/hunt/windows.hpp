// Windows of convolutions and pools: kernel, strides, dilations, padding. Clients: operators of the hunt.
#pragma once

#include <string>
#include <vector>

#include "core/hunt/draft.hpp"

namespace driftscope::hunt {

struct Window {
  std::vector<std::int64_t> kernel;
  std::vector<Attribute> attributes;  ///< all but kernel_shape
  std::vector<std::int64_t> steps;    ///< by axis the larger of stride and dilation
};

/// `sizes`: of the spatial axes, so that the padded input holds the window. `dilations`: whether the operator
/// has them.
[[nodiscard]] Window draw_window(Rng& rng, const Shape& sizes, bool dilations);

/// The attribute `kernel_shape`.
[[nodiscard]] Attribute kernel_shape(const Window& window);

/// The spatial axes of [N, C, …].
[[nodiscard]] Shape spatial_sizes(const DraftValue& value);

}  // namespace driftscope::hunt
