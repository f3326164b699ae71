#include "core/hunt/windows.hpp"

#include <algorithm>

#include "core/hunt/draws.hpp"

namespace driftscope::hunt {

Shape spatial_sizes(const DraftValue& value) { return {value.shape.begin() + 2, value.shape.end()}; }

Attribute kernel_shape(const Window& window) { return {"kernel_shape", window.kernel}; }

Window draw_window(Rng& rng, const Shape& sizes, bool dilations) {
  Window window;
  std::vector<std::int64_t> dilation;
  const bool square = happens(rng, 2);
  for (const std::int64_t size : sizes) {
    const std::int64_t wide = square && !window.kernel.empty()
                                  ? window.kernel.front()
                                  : one_of<std::int64_t>(rng, {1, 2, 3, 3, 4, 5, 7});
    window.kernel.push_back(std::min(wide, size));
    const std::int64_t steps = std::max<std::int64_t>(window.kernel.back() - 1, 1);
    const std::int64_t reach = (size - 1) / steps;
    dilation.push_back(dilations && happens(rng, 3) ? between(rng, 1, std::clamp<std::int64_t>(reach, 1, 4))
                                                    : 1);
  }
  std::vector<std::int64_t> strides;
  for (std::size_t i = 0; i < sizes.size(); ++i) strides.push_back(happens(rng, 2) ? 1 : between(rng, 1, 4));
  if (!happens(rng, 4))
    window.attributes.push_back({"strides", strides});
  else
    strides.assign(sizes.size(), 1);
  const bool dilated = std::ranges::any_of(dilation, [](std::int64_t one) { return one > 1; });
  if (dilated) window.attributes.push_back({"dilations", dilation});
  if (happens(rng, 4)) {
    // SAME with dilations is refused by some operators, and its pads are read in two ways.
    window.attributes.push_back(
        {"auto_pad", std::string(dilated ? "VALID" : one_of(rng, {"SAME_UPPER", "SAME_LOWER", "VALID"}))});
  } else if (happens(rng, 2)) {
    std::vector<std::int64_t> pads;
    const bool same = happens(rng, 2);
    for (std::size_t i = 0; i < 2 * sizes.size(); ++i) {
      const std::size_t axis = i % sizes.size();
      // Pads as wide as the window are refused by some operators.
      pads.push_back(same ? (window.kernel[axis] - 1) / 2 : between(rng, 0, window.kernel[axis] - 1));
    }
    window.attributes.push_back({"pads", pads});
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) window.steps.push_back(std::max(strides[i], dilation[i]));
  return window;
}

}  // namespace driftscope::hunt
