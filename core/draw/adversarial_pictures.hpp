// A picture, what an attack made of it, and the difference enlarged. Clients: the page of an attack, its
// view.
#pragma once

#include <span>

#include "core/draw/heat_map.hpp"
#include "core/model/tensor.hpp"

namespace driftscope {

struct AdversarialPictures {
  Image original;
  Image changed;     ///< on the original's scale
  Image difference;  ///< grey where nothing changed; by channel, the largest change reaches black or white
  double largest = 0.0;   ///< of the changes, in the data's units
  double enlarged = 0.0;  ///< how many times the difference is larger than in the picture; 0: there is none
};

/// `shape`: of one sample, C×H×W or H×W×C with 1 or 3 channels, or H×W; with any axes of length 1 before.
/// Pixels in [0, 1] are shown as they are, others from the smallest to the largest of both. Empty images for
/// anything else.
[[nodiscard]] AdversarialPictures adversarial_pictures(std::span<const float> original,
                                                       std::span<const float> changed, const Shape& shape);

}  // namespace driftscope
