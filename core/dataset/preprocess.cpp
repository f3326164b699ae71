#include "core/dataset/preprocess.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/text.hpp"

namespace driftscope {
namespace {

using nlohmann::json;

constexpr std::string_view format_name = "driftscope-preprocess-1";
constexpr std::int64_t largest_side = 16384;

Result<std::string> text(const json& object, const char* key) {
  const auto value = object.find(key);
  if (value == object.end() || !value->is_string())
    return bad_input(fmt::format("{} is missing or no text", key));
  return value->get<std::string>();
}

Result<std::int64_t> size(const json& object, const char* key) {
  const auto value = object.find(key);
  if (value == object.end() || !value->is_number_unsigned() ||
      value->get<std::uint64_t>() == 0 ||
      value->get<std::uint64_t>() > static_cast<std::uint64_t>(largest_side))
    return bad_input(fmt::format("{} is missing or no integer from 1 to {}", key, largest_side));
  return value->get<std::int64_t>();
}

/// The JSON number, a double, rounded to float32.
Result<float> number(const json& value, const char* key) {
  if (!value.is_number()) return bad_input(fmt::format("{} holds something else than numbers", key));
  const auto rounded = static_cast<float>(value.get<double>());
  if (!std::isfinite(rounded))
    return bad_input(fmt::format("{} holds a number beyond float32", key));
  return rounded;
}

Result<std::vector<float>> per_channel(const json& object, const char* key, std::int64_t channels) {
  const auto value = object.find(key);
  if (value == object.end() || !value->is_array() ||
      value->size() != static_cast<std::uint64_t>(channels))
    return bad_input(fmt::format("{} is missing or no list of {} numbers, one per channel", key,
                                 channels));
  std::vector<float> numbers;
  for (const json& entry : *value) {
    DRIFTSCOPE_TRY(const float x, number(entry, key));
    numbers.push_back(x);
  }
  return numbers;
}

Status read_labels(const json& object, Preprocess& how) {
  const auto value = object.find("labels");
  if (value == object.end()) return {};
  if (!value->is_array()) return bad_input("labels is no list");
  for (const json& label : *value) {
    if (!label.is_string()) return bad_input("labels holds something else than text");
    how.labels.push_back(label.get<std::string>());
  }
  return {};
}

Status read_order(const json& object, Preprocess& how) {
  DRIFTSCOPE_TRY(const std::string order, text(object, "channel_order"));
  if (order != "gray" && order != "RGB")
    return unsupported(fmt::format("channel_order is {}, expected gray or RGB", in_quotes(order)));
  how.order = order == "gray" ? ChannelOrder::gray : ChannelOrder::rgb;
  const std::int64_t expected = how.order == ChannelOrder::gray ? 1 : 3;
  if (how.channels != expected)
    return bad_input(fmt::format("channels is {}, but channel_order {} has {}", how.channels, order,
                                 expected));
  return {};
}

Result<Preprocess> read(std::string_view json_text) {
  const json object = json::parse(json_text.begin(), json_text.end(), nullptr, false);
  if (!object.is_object()) return bad_input("it is no JSON object");
  DRIFTSCOPE_TRY(const std::string format, text(object, "format"));
  if (format != format_name)
    return unsupported(fmt::format("format is {}, expected {}", in_quotes(format), format_name));
  DRIFTSCOPE_TRY(const std::string layout, text(object, "layout"));
  if (layout != "NCHW")
    return unsupported(fmt::format("layout is {}, expected NCHW", in_quotes(layout)));
  Preprocess how;
  DRIFTSCOPE_TRY(how.input, text(object, "input"));
  DRIFTSCOPE_TRY(how.channels, size(object, "channels"));
  DRIFTSCOPE_TRY(how.height, size(object, "height"));
  DRIFTSCOPE_TRY(how.width, size(object, "width"));
  DRIFTSCOPE_CHECK(read_order(object, how));
  DRIFTSCOPE_TRY(how.scale, number(object.value("scale", json()), "scale"));
  DRIFTSCOPE_TRY(how.mean, per_channel(object, "mean", how.channels));
  DRIFTSCOPE_TRY(how.std, per_channel(object, "std", how.channels));
  for (const float x : how.std)
    if (x == 0.0f) return bad_input("std holds a zero, by which nothing can be divided");
  DRIFTSCOPE_CHECK(read_labels(object, how));
  return how;
}

}  // namespace

std::string Preprocess::text() const {
  return fmt::format("{}x{}x{} {}", channels, height, width,
                     order == ChannelOrder::gray ? "gray" : "RGB");
}

Result<Preprocess> parse_preprocess(std::string_view json_text) {
  auto how = read(json_text);
  if (!how.ok()) return in_context(std::move(how).error(), "preprocessing description");
  return how;
}

Result<Tensor> preprocess(const Preprocess& how, std::span<const std::byte> pixels) {
  DRIFTSCOPE_TRY(Tensor tensor,
                 Tensor::make(DType::float32, {1, how.channels, how.height, how.width}, "sample"));
  if (pixels.size() != static_cast<std::uint64_t>(tensor.elements()))
    return bad_input(fmt::format("a sample of {} bytes, the model's preprocessing expects {} ({})",
                                 pixels.size(), tensor.elements(), how.text()));
  const auto out = tensor.mutable_values<float>();
  const std::size_t plane = pixels.size() / static_cast<std::size_t>(how.channels);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const std::size_t c = i / plane;
    const float scaled = static_cast<float>(std::to_integer<int>(pixels[i])) * how.scale;
    const float centred = scaled - how.mean[c];
    out[i] = centred / how.std[c];
  }
  return tensor;
}

}  // namespace driftscope
