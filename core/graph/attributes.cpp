#include "core/graph/attributes.hpp"

#include <fmt/format.h>

#include <array>

namespace driftscope {
namespace {

constexpr std::array<std::string_view, 11> kind_names = {
    "nothing", "a float",  "an integer",        "a string", "a tensor", "a graph",
    "floats",  "integers", "a list of strings", "tensors",  "graphs"};

Error unheld_attribute(std::string_view name) {
  return unsupported(
      fmt::format("attribute {}: strings, 8-bit floats, sparse tensors and types cannot be held here", name));
}

template <class T>
Result<T> read(const Node& node, std::string_view name, T fallback) {
  const Attribute* attribute = node.attribute(name);
  if (attribute == nullptr) return fallback;
  if (const T* value = std::get_if<T>(&attribute->value)) return *value;
  if (std::holds_alternative<std::monostate>(attribute->value)) return unheld_attribute(name);
  return bad_input(fmt::format("attribute {}: expected {}, got {}", name,
                               kind_names[Attribute::Value(T{}).index()],
                               kind_names[attribute->value.index()]));
}

}  // namespace

Result<std::int64_t> int_attribute(const Node& node, std::string_view name, std::int64_t fallback) {
  return read<std::int64_t>(node, name, fallback);
}

Result<float> float_attribute(const Node& node, std::string_view name, float fallback) {
  return read<float>(node, name, fallback);
}

Result<std::string> string_attribute(const Node& node, std::string_view name, std::string_view fallback) {
  return read<std::string>(node, name, std::string(fallback));
}

Result<Ints> ints_attribute(const Node& node, std::string_view name, Ints fallback) {
  return read<Ints>(node, name, std::move(fallback));
}

Result<std::vector<float>> floats_attribute(const Node& node, std::string_view name,
                                            std::vector<float> fallback) {
  return read<std::vector<float>>(node, name, std::move(fallback));
}

Result<std::vector<std::string>> strings_attribute(const Node& node, std::string_view name,
                                                   std::vector<std::string> fallback) {
  return read<std::vector<std::string>>(node, name, std::move(fallback));
}

Result<bool> flag_attribute(const Node& node, std::string_view name, bool fallback) {
  DRIFTSCOPE_TRY(const std::int64_t value, int_attribute(node, name, fallback ? 1 : 0));
  if (value != 0 && value != 1)
    return bad_input(fmt::format("attribute {}: expected 0 or 1, got {}", name, value));
  return value == 1;
}

Result<std::size_t> normalize_axis(std::int64_t axis, std::size_t rank, bool end_allowed) {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  const std::int64_t last = end_allowed ? signed_rank : signed_rank - 1;
  if (axis < -signed_rank || axis > last)
    return bad_input(
        fmt::format("axis {} is outside [{}, {}] for a tensor of rank {}", axis, -signed_rank, last, rank));
  return static_cast<std::size_t>(axis < 0 ? axis + signed_rank : axis);
}

}  // namespace driftscope
