#include "core/engines/ort/capture.hpp"

#include <fmt/format.h>

#include <set>

namespace driftscope::ort {

CapturePlan plan_capture(const Graph& graph, const ModelOutline& outline, const Backend& backend) {
  std::set<std::string_view> made;
  for (const OutlineNode& node : outline.nodes) made.insert(node.outputs.begin(), node.outputs.end());
  const std::set<std::string_view> outputs(outline.outputs.begin(), outline.outputs.end());
  CapturePlan plan;
  const auto hide = [&](std::string why) {
    if (plan.hidden++ == 0) plan.hidden_why = std::move(why);
  };
  for (const Node& node : graph.nodes)
    for (const ValueId id : node.outputs) {
      if (id == no_value) continue;
      const Value& value = graph.values[id];
      if (outputs.contains(value.name)) continue;
      if (!made.contains(value.name))
        hide(fmt::format("{} is inside a function of the model", value.name));
      else if (std::string why = backend.lacks(value.dtype); !why.empty())
        hide(fmt::format("{}: {}", value.name, why));
      else
        plan.added.push_back(value.name);
    }
  return plan;
}

}  // namespace driftscope::ort
