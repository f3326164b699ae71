#include "core/deploy/deploy_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/model/tensor_elements.hpp"

namespace driftscope {

std::optional<ElementRange> range_of(const Tensor& tensor) {
  if (!is_floating(tensor.dtype())) return std::nullopt;
  ElementRange range{.dtype = tensor.dtype(), .elements = tensor.elements()};
  const auto count = static_cast<std::size_t>(tensor.elements());
  const bool numbers = with_numbers(tensor, [&](auto at) {
    for (std::size_t i = 0; i < count; ++i) {
      const double x = at(i);
      if (std::isnan(x))
        ++range.nan;
      else if (std::isinf(x))
        ++range.infinite;
      else
        range.largest = std::max(range.largest, std::fabs(x));
    }
  });
  return numbers ? std::optional(range) : std::nullopt;
}

std::string not_finite_text(const ElementRange& range) {
  std::string text;
  if (range.nan > 0) text = fmt::format("{} NaN", range.nan);
  if (range.infinite > 0) text += fmt::format("{}{} infinite", text.empty() ? "" : " and ", range.infinite);
  return fmt::format("{} of {} elements", text, range.elements);
}

std::vector<LayerRange> layer_ranges(const Graph& graph, const std::vector<NamedRange>& ranges) {
  std::unordered_map<std::string_view, const ElementRange*> by_name;
  for (const NamedRange& range : ranges) by_name.emplace(range.name, &range.range);
  const auto holds_only_numbers = [&](ValueId id) {
    if (id == no_value) return true;
    const Value& value = graph.values[id];
    if (value.constant) {
      const auto range = value.constant->in_memory() ? range_of(*value.constant) : std::nullopt;
      return !range || range->finite();
    }
    const auto found = by_name.find(value.name);
    return found == by_name.end() || found->second->finite();
  };
  std::vector<LayerRange> layers;
  for (const Node& node : graph.nodes) {
    std::optional<bool> finite_inputs;  // looked at once, and only where there is an output to judge
    for (const ValueId output : node.outputs) {
      if (output == no_value) continue;
      const auto found = by_name.find(graph.values[output].name);
      if (found == by_name.end()) continue;
      const ElementRange& range = *found->second;
      if (!range.finite() && !finite_inputs)
        finite_inputs = std::ranges::all_of(node.reads(), holds_only_numbers);
      layers.push_back({.node = node.name,
                        .value = graph.values[output].name,
                        .range = range,
                        .finite_inputs = finite_inputs.value_or(true)});
    }
  }
  return layers;
}

}  // namespace driftscope
