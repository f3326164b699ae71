#include "core/dataset/preprocess.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/base/half.hpp"
#include "core/base/text.hpp"
#include "core/dataset/description_fields.hpp"
#include "core/dataset/resize.hpp"

namespace driftscope {
namespace {

using nlohmann::json;

constexpr std::int64_t rgb_channels = 3;

Result<std::vector<float>> per_channel(const json& object, const char* key, std::int64_t channels) {
  const auto value = object.find(key);
  if (value == object.end() || !value->is_array() || value->size() != static_cast<std::uint64_t>(channels))
    return bad_input(
        fmt::format("{} is missing or not a list of {} numbers, one per channel", key, channels));
  std::vector<float> numbers;
  for (const json& entry : *value) {
    DRIFTSCOPE_TRY(const float x, description_number(entry, key));
    numbers.push_back(x);
  }
  return numbers;
}

Status read_order(const json& object, Preprocess& how) {
  DRIFTSCOPE_TRY(const std::string order, description_text(object, "channel_order"));
  if (order != "gray" && order != "RGB" && order != "BGR")
    return unsupported(fmt::format("channel_order is {}, expected gray, RGB or BGR", in_quotes(order)));
  how.order = order == "gray" ? ChannelOrder::gray : order == "RGB" ? ChannelOrder::rgb : ChannelOrder::bgr;
  const std::int64_t expected = how.order == ChannelOrder::gray ? 1 : rgb_channels;
  if (how.channels != expected)
    return bad_input(
        fmt::format("channels is {}, but channel_order {} has {}", how.channels, order, expected));
  return {};
}

/// "resize": {"rule": "none" | "exact" | "shorter_side", "size", "antialias"} and "crop".
Status read_resize(const json& object, Preprocess& how) {
  if (const auto resize = object.find("resize"); resize != object.end()) {
    if (!resize->is_object()) return bad_input("resize must be an object with a rule");
    DRIFTSCOPE_TRY(const std::size_t rule,
                   description_choice(*resize, "rule", {"none", "exact", "shorter_side"}));
    how.resize = static_cast<ResizeRule>(rule);
    DRIFTSCOPE_TRY(how.antialias, description_flag(*resize, "antialias"));
    if (how.resize == ResizeRule::shorter_side) {
      DRIFTSCOPE_TRY(how.shorter_side, description_size(*resize, "size"));
    }
  }
  DRIFTSCOPE_TRY(const std::size_t crop, description_choice(object, "crop", {"none", "center"}));
  how.crop = static_cast<Crop>(crop);
  DRIFTSCOPE_TRY(how.gray_to_rgb, description_flag(object, "gray_to_rgb"));
  return {};
}

Status read_dtype(const json& object, Preprocess& how) {
  DRIFTSCOPE_TRY(const std::size_t dtype,
                 description_choice(object, "dtype", {"float32", "float16", "uint8"}));
  how.dtype = std::array{DType::float32, DType::float16, DType::uint8}[dtype];
  const auto all = [](const std::vector<float>& values, float x) {
    return std::ranges::all_of(values, [x](float value) { return value == x; });
  };
  if (how.dtype == DType::uint8 && (how.scale != 1.0f || !all(how.mean, 0.0f) || !all(how.std, 1.0f)))
    return bad_input("dtype uint8 keeps the pixels: scale must be 1, mean 0 and std 1");
  return {};
}

Result<Preprocess> read(std::string_view json_text) {
  DRIFTSCOPE_TRY(const json object, parse_description_object(json_text));
  Preprocess how;
  if (!object.contains("layout")) return bad_input("layout is missing");
  DRIFTSCOPE_TRY(const std::size_t layout, description_choice(object, "layout", {"NCHW", "NHWC"}));
  how.layout = static_cast<Layout>(layout);
  DRIFTSCOPE_TRY(how.input, description_text(object, "input"));
  DRIFTSCOPE_TRY(how.channels, description_size(object, "channels"));
  DRIFTSCOPE_TRY(how.height, description_size(object, "height"));
  DRIFTSCOPE_TRY(how.width, description_size(object, "width"));
  if (how.height * how.width > max_picture_pixels)
    return limit_error(
        fmt::format("{}x{} are more than {} pixels", how.height, how.width, max_picture_pixels));
  DRIFTSCOPE_CHECK(read_order(object, how));
  DRIFTSCOPE_TRY(how.scale, description_number(object.value("scale", json()), "scale"));
  DRIFTSCOPE_TRY(how.mean, per_channel(object, "mean", how.channels));
  DRIFTSCOPE_TRY(how.std, per_channel(object, "std", how.channels));
  for (const float x : how.std)
    if (x == 0.0f) return bad_input("std contains a zero, and pixels are divided by it");
  DRIFTSCOPE_CHECK(read_resize(object, how));
  DRIFTSCOPE_CHECK(read_dtype(object, how));
  DRIFTSCOPE_TRY(how.labels, description_texts(object, "labels"));
  return how;
}

Shape sample_shape(const Preprocess& how) {
  if (how.layout == Layout::nchw) return {1, how.channels, how.height, how.width};
  return {1, how.height, how.width, how.channels};
}

/// Writes element i of the tensor; `value` has gone through scale, mean and std.
void store(Tensor& tensor, std::size_t i, std::uint8_t pixel, float value) {
  if (tensor.dtype() == DType::uint8) {
    tensor.mutable_values<std::uint8_t>()[i] = pixel;
  } else if (tensor.dtype() == DType::float16) {
    tensor.mutable_values<std::uint16_t>()[i] = narrow(float16_format, static_cast<double>(value));
  } else {
    tensor.mutable_values<float>()[i] = value;
  }
}

/// pixel(c, i): channel c (gray, or red, green, blue) of pixel i of the model's height × width.
template <class Pixel>
Result<Tensor> to_tensor(const Preprocess& how, Pixel pixel) {
  DRIFTSCOPE_TRY(Tensor tensor, Tensor::make(how.dtype, sample_shape(how), "sample"));
  const auto channels = static_cast<std::size_t>(how.channels);
  const auto plane = static_cast<std::size_t>(how.height * how.width);
  for (std::size_t c = 0; c < channels; ++c) {
    const std::size_t source = how.order == ChannelOrder::bgr ? channels - 1 - c : c;
    for (std::size_t i = 0; i < plane; ++i) {
      const std::uint8_t p = pixel(source, i);
      const float scaled = static_cast<float>(p) * how.scale;
      const float centred = scaled - how.mean[c];
      store(tensor, how.layout == Layout::nchw ? c * plane + i : i * channels + c, p, centred / how.std[c]);
    }
  }
  return tensor;
}

/// The picture in the model's size, still in its own channels.
Result<Picture> fit(const Preprocess& how, const Picture& picture) {
  Picture fitted = picture;
  if (how.resize == ResizeRule::exact) {
    DRIFTSCOPE_TRY(fitted, resize_bilinear(picture, how.height, how.width, how.antialias));
  } else if (how.resize == ResizeRule::shorter_side) {
    const bool upright = picture.width <= picture.height;
    const std::int64_t longer =
        how.shorter_side * std::max(picture.width, picture.height) / std::min(picture.width, picture.height);
    DRIFTSCOPE_TRY(fitted, resize_bilinear(picture, upright ? longer : how.shorter_side,
                                           upright ? how.shorter_side : longer, how.antialias));
  }
  if (how.crop == Crop::center) {
    DRIFTSCOPE_TRY(fitted, crop_center(fitted, how.height, how.width));
  }
  if (fitted.height != how.height || fitted.width != how.width)
    return bad_input(fmt::format(
        "the picture is {}{}, the model's preprocessing expects {}; a \"resize\" or \"crop\" in the "
        "description would bring it there",
        fitted.text(), how.resize == ResizeRule::none ? "" : " after resizing", how.text()));
  return fitted;
}

}  // namespace

std::string Preprocess::text() const {
  constexpr std::array names{"gray", "RGB", "BGR"};
  return fmt::format("{}x{}x{} {}", channels, height, width, names[static_cast<std::size_t>(order)]);
}

Result<Preprocess> parse_preprocess(std::string_view json_text) {
  auto how = read(json_text);
  if (!how.ok()) return in_context(std::move(how).error(), "preprocessing description");
  return how;
}

Result<Tensor> preprocess(const Preprocess& how, std::span<const std::byte> pixels) {
  const std::int64_t expected = how.channels * how.height * how.width;
  if (pixels.size() != static_cast<std::uint64_t>(expected))
    return bad_input(fmt::format("a sample of {} bytes, the model's preprocessing expects {} ({})",
                                 pixels.size(), expected, how.text()));
  const auto plane = static_cast<std::size_t>(how.height * how.width);
  return to_tensor(how, [&](std::size_t c, std::size_t i) {
    return std::to_integer<std::uint8_t>(pixels[c * plane + i]);
  });
}

Result<Tensor> preprocess(const Preprocess& how, const Picture& picture) {
  if (picture.channels == rgb_channels && how.channels == 1)
    return bad_input(
        fmt::format("the picture is {}, the model's preprocessing expects gray; convert it", picture.text()));
  if (picture.channels == 1 && how.channels == rgb_channels && !how.gray_to_rgb)
    return bad_input(
        fmt::format("the picture is {}, the model's preprocessing expects colour; convert it, or let the "
                    "description say \"gray_to_rgb\": true",
                    picture.text()));
  DRIFTSCOPE_TRY(const Picture fitted, fit(how, picture));
  const auto channels = static_cast<std::size_t>(fitted.channels);
  return to_tensor(how, [&](std::size_t c, std::size_t i) {
    return fitted.pixels[i * channels + (channels == 1 ? 0 : c)];
  });
}

}  // namespace driftscope
