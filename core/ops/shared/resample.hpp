// Which elements of an axis contribute to a resized one, and with what weights. One axis at a time.
// Clients: Resize, Upsample. ONNX specification of Resize, opset 10 to 21; ties and the order of
// neighbours as in its reference implementation. It touches no data.
//
// Coordinates are computed in double, sizes as exact quotients of integers. Runtimes compute them
// in float32: the possible error, and its consequences, are part of the plan.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

struct Resampling {
  enum class Mode { nearest, linear, cubic };
  enum class Coordinate {
    half_pixel,
    half_pixel_symmetric,
    pytorch_half_pixel,
    align_corners,
    asymmetric,
    tf_half_pixel_for_nn,
    tf_crop_and_resize
  };
  enum class Nearest {
    round_prefer_floor,
    round_prefer_ceil,
    floor,
    ceil,
    simple,  ///< opset 10 and Upsample: floor, but ceil where an axis shrinks
  };
  Mode mode = Mode::nearest;
  Coordinate coordinate = Coordinate::half_pixel;
  Nearest nearest = Nearest::round_prefer_floor;
  double cubic_a = -0.75;
  bool exclude_outside = false;
  bool antialias = false;
};

/// One axis. With `from_size` the scale is output/input, exactly.
struct ResampledAxis {
  std::int64_t input = 0;
  std::int64_t output = 0;
  double scale = 1.0;
  bool from_size = false;
  double roi_begin = 0.0;
  double roi_end = 1.0;

  [[nodiscard]] bool identity() const { return input == output && scale == 1.0; }
};

/// Weighted elements; their weights add up to 1.
struct Taps {
  std::vector<std::int64_t> at;
  std::vector<double> weight;
  bool operator==(const Taps&) const = default;
};

/// One output coordinate.
struct ResampledPoint {
  Taps taps;
  /// The taps used with float32 coordinates at the two ends of their error, if they differ from
  /// `taps`.
  std::vector<Taps> alternatives;
  double weight_error = 0.0;  ///< of each weight, absolute
  bool outside = false;       ///< tf_crop_and_resize: takes the extrapolation value
};

/// Every output coordinate of an axis with at least one element.
[[nodiscard]] std::vector<ResampledPoint> resample_axis(const Resampling& how, const ResampledAxis& axis);

}  // namespace driftscope
