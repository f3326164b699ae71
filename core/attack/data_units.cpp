#include "core/attack/data_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace driftscope {

Result<DataUnits> DataUnits::pictures(const Preprocess& how) {
  if (how.dtype != DType::float32)
    return unsupported(
        fmt::format("input {} has type {}: attacks change float32 inputs", how.input, dtype_name(how.dtype)));
  DataUnits units;
  units.pictures_ = true;
  units.scale_ = 255.0f * how.scale;
  units.mean_ = how.mean;
  units.std_ = how.std;
  units.channels_ = how.channels;
  units.stride_ = how.layout == Layout::nchw ? how.height * how.width : 1;
  if (std::ssize(how.mean) != how.channels || std::ssize(how.std) != how.channels || !(units.scale_ > 0.0f))
    return bad_input(
        fmt::format("the description of {} has no mean and std for each channel, or no scale", how.input));
  return units;
}

DataUnits DataUnits::plain(const Tensor& samples) {
  DataUnits units;
  const auto values = samples.values<float>();
  if (values.empty()) return units;
  const auto [least, most] = std::ranges::minmax(values);
  units.low_ = least;
  units.high_ = most;
  return units;
}

std::size_t DataUnits::channel(std::size_t at) const {
  if (mean_.size() == 1) return 0;
  return at / static_cast<std::size_t>(stride_) % static_cast<std::size_t>(channels_);
}

std::vector<float> DataUnits::data_of(std::span<const float> input) const {
  std::vector<float> data(input.begin(), input.end());
  if (!pictures_) return data;
  for (std::size_t at = 0; at < data.size(); ++at) {
    const double pixel = (static_cast<double>(input[at]) * static_cast<double>(std_[channel(at)]) +
                          static_cast<double>(mean_[channel(at)])) /
                         static_cast<double>(scale_);
    const double whole = std::nearbyint(pixel * 255.0);
    const bool stored = std::abs(pixel * 255.0 - whole) < 0.01;
    data[at] = stored ? static_cast<float>(whole) / 255.0f : static_cast<float>(pixel);
  }
  return data;
}

void DataUnits::to_input(std::span<const float> data, std::span<float> input) const {
  for (std::size_t at = 0; at < data.size(); ++at) {
    if (!pictures_) {
      input[at] = data[at];
      continue;
    }
    const float scaled = data[at] * scale_;
    const float centred = scaled - mean_[channel(at)];
    input[at] = centred / std_[channel(at)];
  }
}

std::vector<float> DataUnits::data_gradient(std::span<const float> gradient) const {
  std::vector<float> data(gradient.begin(), gradient.end());
  if (pictures_)
    for (std::size_t at = 0; at < data.size(); ++at) data[at] = gradient[at] * scale_ / std_[channel(at)];
  return data;
}

AttackSettings DataUnits::settings() const {
  AttackSettings settings;
  settings.low = low_;
  settings.high = high_;
  settings.channels = channels_;
  settings.channel_stride = stride_;
  return settings;
}

}  // namespace driftscope
