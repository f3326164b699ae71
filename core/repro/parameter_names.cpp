#include "core/repro/parameter_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>

namespace driftscope {
namespace {

constexpr std::array<std::string_view, 12> by_order = {
    "input channels", "channels", "inner size", "columns",      "output channels", "width",
    "length",         "height",   "rows",       "kernel width", "kernel height",   "depth"};

bool is_convolution(const Node& node) { return node.op_type.find("Conv") != std::string::npos; }

bool is_set(const Node& node, std::string_view name) {
  const Attribute* const attribute = node.attribute(name);
  const auto* const value = attribute == nullptr ? nullptr : std::get_if<std::int64_t>(&attribute->value);
  return value != nullptr && *value != 0;
}

/// "depth", "height", "width" of the last axes; one alone is a length.
std::string spatial_name(std::size_t axis, std::size_t rank, std::size_t first) {
  constexpr std::array<std::string_view, 3> names = {"depth", "height", "width"};
  const std::size_t count = rank - first;
  if (count == 1) return "length";
  if (count > names.size()) return {};
  return std::string(names[names.size() - count + (axis - first)]);
}

std::string name_of(const Node& node, std::size_t input, std::size_t axis, std::size_t rank) {
  const bool product = node.op_type == "MatMul" || node.op_type == "Gemm";
  if (product && rank >= 2 && input < 2) {
    const bool transposed = is_set(node, input == 0 ? "transA" : "transB");
    const bool is_last = axis + 1 == rank;
    if (axis + 2 < rank) return {};
    if ((is_last == (input == 0)) != transposed) return "inner size";
    return input == 0 ? "rows" : "columns";
  }
  if (input == 1 && is_convolution(node) && rank > 2) {
    const bool transposed = node.op_type == "ConvTranspose";
    if (axis < 2) return (axis == 0) == transposed ? "input channels" : "output channels";
    const std::string name = spatial_name(axis, rank, 2);
    return name.empty() ? name : "kernel " + name;
  }
  if (input != 0 || rank < 3) return {};
  if (axis == 0) return "batch size";
  if (axis == 1) return is_convolution(node) ? "input channels" : "channels";
  return spatial_name(axis, rank, 2);
}

}  // namespace

std::string size_name(const Excerpt& excerpt, std::span<const ExcerptAxis> axes) {
  std::string best;
  for (const ExcerptAxis& one : axes) {
    const auto& inputs = excerpt.node().inputs;
    const auto place = std::ranges::find(inputs, one.value);
    if (place == inputs.end()) continue;
    std::string name = name_of(excerpt.node(), static_cast<std::size_t>(place - inputs.begin()), one.axis,
                               tensor_of(excerpt, one.value)->shape().size());
    if (!name.empty() && (best.empty() || size_order(name) < size_order(best))) best = std::move(name);
  }
  if (!best.empty()) return best;
  std::string text;
  for (const ExcerptAxis& one : axes)
    text += fmt::format("{}axis {} of {}", text.empty() ? "" : " and ", one.axis,
                        excerpt.graph.values[one.value].name);
  return text;
}

int size_order(const std::string& name) {
  return static_cast<int>(std::ranges::find(by_order, name) - by_order.begin());
}

}  // namespace driftscope
