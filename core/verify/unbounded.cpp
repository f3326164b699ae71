// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/unbounded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace driftscope {
namespace {

template <std::size_t Count>
bool is_among(const std::array<std::string_view, Count>& ops, const Node& node) {
  return node.domain.empty() && std::ranges::find(ops, node.op_type) != ops.end();
}

std::string beyond_reach(const char* functions, double reach) {
  if (reach < 0.0) return fmt::format("GLSL ES promises no accuracy of {}", functions);
  if (reach == std::numbers::pi)
    return fmt::format("WGSL promises an accuracy of {} only for arguments from −π to π", functions);
  return fmt::format("{} of this engine are exact only for arguments up to {:g}", functions, reach);
}

}  // namespace

std::string why_unbounded(const LayerCase& layer) {
  static constexpr std::array<std::string_view, 3> waves = {"Sin", "Cos", "Tan"};
  static constexpr std::array<std::string_view, 3> inverse_waves = {"Asin", "Acos", "Atan"};
  static constexpr std::array<std::string_view, 8> partial = {"Div", "Reciprocal", "Sqrt",  "Log",
                                                              "Pow", "Acosh",      "Atanh", "ReduceLogSum"};
  const ErrorModel& model = layer.run.model;
  std::vector<NodeId> nodes = layer.derived.group;
  nodes.push_back(layer.id);
  for (const NodeId id : nodes) {
    const Node& node = layer.graph.nodes[id];
    if (is_among(waves, node) && std::isfinite(model.sin.reach))
      return beyond_reach("sin and cos", model.sin.reach);
    if (is_among(inverse_waves, node) && std::isfinite(model.asin.reach))
      return beyond_reach("asin, acos and atan", model.asin.reach);
  }
  for (const NodeId id : nodes)
    if (const Node& node = layer.graph.nodes[id]; is_among(partial, node))
      return fmt::format("within its rounding an argument of {} ({}) may lie where it is not defined",
                         node.name, node.op_type);
  return {};
}

}  // namespace driftscope
