#include "core/engines/ort/capture.hpp"

#include <fmt/format.h>

#include <set>

namespace driftscope::ort {
namespace {

CapturePlan make_plan(const Graph& graph, const ModelOutline& outline, const Backend& backend,
                      bool (*shows)(const OutlineNode&), std::string_view why_not) {
  std::set<std::string_view> made;
  for (const OutlineNode& node : outline.nodes)
    if (shows(node)) made.insert(node.outputs.begin(), node.outputs.end());
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
        hide(fmt::format("{} {}", value.name, why_not));
      else if (std::string why = backend.lacks(value.dtype); !why.empty())
        hide(fmt::format("{}: {}", value.name, why));
      else
        plan.added.push_back(value.name);
    }
  return plan;
}

bool has_onnx_layout(const OutlineNode& node) {
  return node.domain.find("nchwc") == std::string::npos && node.domain.find("nhwc") == std::string::npos &&
         !node.op_type.starts_with("Nhwc");
}

}  // namespace

CapturePlan plan_capture(const Graph& graph, const ModelOutline& outline, const Backend& backend) {
  return make_plan(
      graph, outline, backend, [](const OutlineNode&) { return true; }, "is inside a function of the model");
}

CapturePlan plan_fused_capture(const Graph& graph, const ModelOutline& optimized, const Backend& backend) {
  return make_plan(graph, optimized, backend, has_onnx_layout,
                   "was fused, folded or laid out in another way");
}

}  // namespace driftscope::ort
