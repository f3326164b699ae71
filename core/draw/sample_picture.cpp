#include "core/draw/sample_picture.hpp"

#include <algorithm>
#include <cmath>

namespace driftscope {

bool is_picture(DType dtype, const Shape& shape) {
  constexpr std::int64_t max_side = 2048;
  return dtype == DType::float32 && shape.size() == 4 && (shape[1] == 1 || shape[1] == 3) && shape[2] > 1 &&
         shape[3] > 1 && shape[2] <= max_side && shape[3] <= max_side;
}

Image sample_picture(const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  if (!is_picture(tensor.dtype(), shape) || tensor.elements() == 0) return {};
  const auto pixels = tensor.values<float>().first(static_cast<std::size_t>(shape[1] * shape[2] * shape[3]));
  const std::vector<double> values(pixels.begin(), pixels.end());
  const ValueRange range = range_of(values);
  Image image{shape[3], shape[2], {}};
  const std::int64_t plane = shape[2] * shape[3];
  const auto grey = [&](std::int64_t channel, std::int64_t place) {
    const double value = values[static_cast<std::size_t>((shape[1] == 1 ? 0 : channel) * plane + place)];
    const double t =
        range.high > range.low && std::isfinite(value) ? (value - range.low) / (range.high - range.low) : 0.0;
    return static_cast<std::uint8_t>(std::lround(std::clamp(t, 0.0, 1.0) * 255.0));
  };
  for (std::int64_t place = 0; place < plane; ++place)
    image.pixels.push_back({grey(0, place), grey(1, place), grey(2, place), 255});
  return image;
}

}  // namespace driftscope
