// Attributes, types and shapes of a GraphDef in protobuf's JSON.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/convert/tfjs/reader/parts.hpp"

namespace driftscope::convert::tfjs {
namespace {

using nlohmann::json;

std::optional<float> real_in(const json& value) {
  if (value.is_number()) return value.get<float>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  if (text == "NaN") return NAN;
  if (text == "Infinity") return INFINITY;
  if (text == "-Infinity") return -INFINITY;
  return std::nullopt;
}

/// base64, or the bytes as numbers.
std::optional<std::string> text_in(const json& value) {
  if (value.is_string()) return from_base64(value.get_ref<const std::string&>());
  if (!value.is_array()) return std::nullopt;
  std::string text;
  for (const json& one : value) {
    const auto byte = integer_in(one);
    if (!byte || *byte < 0 || *byte > 255) return std::nullopt;
    text += static_cast<char>(*byte);
  }
  return text;
}

Result<std::optional<tf::Attribute>> list_in(const json& list) {
  const auto wrong = [](std::string_view what) {
    return bad_input(fmt::format("a list with an entry that is not a {}", what));
  };
  if (const auto found = list.find("i"); found != list.end() && found->is_array()) {
    std::vector<std::int64_t> values;
    for (const json& one : *found) {
      const auto value = integer_in(one);
      if (!value) return wrong("integer");
      values.push_back(*value);
    }
    return std::optional<tf::Attribute>(std::move(values));
  }
  if (const auto found = list.find("f"); found != list.end() && found->is_array()) {
    std::vector<float> values;
    for (const json& one : *found) {
      const auto value = real_in(one);
      if (!value) return wrong("number");
      values.push_back(*value);
    }
    return std::optional<tf::Attribute>(std::move(values));
  }
  if (const auto found = list.find("s"); found != list.end() && found->is_array()) {
    std::vector<std::string> values;
    for (const json& one : *found) {
      auto value = text_in(one);
      if (!value) return wrong("text in base64");
      values.push_back(*std::move(value));
    }
    return std::optional<tf::Attribute>(std::move(values));
  }
  return std::optional<tf::Attribute>();
}

}  // namespace

std::optional<std::string> from_base64(std::string_view text) {
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    std::uint32_t value = 0;
    if (c >= 'A' && c <= 'Z')
      value = static_cast<std::uint32_t>(c - 'A');
    else if (c >= 'a' && c <= 'z')
      value = static_cast<std::uint32_t>(c - 'a') + 26;
    else if (c >= '0' && c <= '9')
      value = static_cast<std::uint32_t>(c - '0') + 52;
    else if (c == '+' || c == '-')
      value = 62;
    else if (c == '/' || c == '_')
      value = 63;
    else
      return std::nullopt;
    bits = (bits << 6 | value) & 0xffffffu;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 255u);
    }
  }
  return bytes;
}

std::optional<std::int64_t> integer_in(const json& value) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX})
    return std::nullopt;
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

std::optional<DType> type_in(const json& value) {
  struct Type {
    const char* name;
    std::int64_t number;  // DataType of TensorFlow's types.proto
    DType dtype;
  };
  static constexpr auto types = std::to_array<Type>({{"DT_FLOAT", 1, DType::float32},
                                                     {"DT_DOUBLE", 2, DType::float32},
                                                     {"DT_HALF", 19, DType::float32},
                                                     {"DT_INT32", 3, DType::int32},
                                                     {"DT_INT64", 9, DType::int32},
                                                     {"DT_UINT8", 4, DType::int32},
                                                     {"DT_INT8", 6, DType::int32},
                                                     {"DT_BOOL", 10, DType::boolean}});
  const auto number = value.is_number() ? integer_in(value) : std::nullopt;
  for (const Type& type : types)
    if ((value.is_string() && value.get_ref<const std::string&>() == type.name) || number == type.number)
      return type.dtype;
  return std::nullopt;
}

Result<std::optional<Shape>> shape_in(const json& value) {
  if (!value.is_object()) return bad_input("a shape that is not an object");
  const auto open = value.find("unknownRank");
  if (open != value.end() && open->is_boolean() && open->get<bool>()) return std::optional<Shape>();
  Shape shape;
  const auto dimensions = value.find("dim");
  if (dimensions == value.end()) return std::optional<Shape>(shape);
  constexpr std::int64_t max_elements = std::numeric_limits<std::int32_t>::max();  // of TensorFlow.js
  if (!dimensions->is_array() || dimensions->size() > max_rank)
    return bad_input(fmt::format("a shape with more than {} axes", max_rank));
  for (const json& one : *dimensions) {
    const auto size =
        one.is_object() && one.contains("size") ? integer_in(one["size"]) : std::optional<std::int64_t>(-1);
    if (!size || *size < -1 || *size > max_elements)
      return bad_input("a shape with a size that does not fit into 31 bits");
    shape.push_back(*size);
  }
  return std::optional<Shape>(std::move(shape));
}

Result<std::optional<tf::Attribute>> attribute_in(const json& value) {
  if (!value.is_object()) return bad_input("an attribute that is not an object");
  for (const auto& [kind, content] : value.items()) {
    if (kind == "b" && content.is_boolean()) return std::optional<tf::Attribute>(content.get<bool>());
    if (kind == "i") {
      const auto number = integer_in(content);
      if (!number) return bad_input("an invalid integer");
      return std::optional<tf::Attribute>(*number);
    }
    if (kind == "f") {
      const auto number = real_in(content);
      if (!number) return bad_input("an invalid number");
      return std::optional<tf::Attribute>(*number);
    }
    if (kind == "s") {
      auto text = text_in(content);
      if (!text) return bad_input("a string that is not base64");
      return std::optional<tf::Attribute>(*std::move(text));
    }
    if (kind == "type") {
      const auto type = type_in(content);
      return type ? std::optional<tf::Attribute>(*type) : std::optional<tf::Attribute>();
    }
    if (kind == "shape") {
      DRIFTSCOPE_TRY(auto shape, shape_in(content));
      return shape ? std::optional<tf::Attribute>(tf::ShapeAttribute{*std::move(shape)})
                   : std::optional<tf::Attribute>();
    }
    if (kind == "list" && content.is_object()) return list_in(content);
  }
  return std::optional<tf::Attribute>();
}

}  // namespace driftscope::convert::tfjs
