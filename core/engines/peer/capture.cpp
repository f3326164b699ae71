#include "core/engines/peer/capture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "core/graph/control_flow.hpp"

namespace driftscope::peer {
namespace {

// `made`: values computed by nodes of the model as the runtime gets it; `outputs`: its outputs already.
CapturePlan make_plan(const Graph& graph, const std::set<std::string_view>& made,
                      const std::set<std::string_view>& outputs, const Runtime& runtime,
                      std::string_view why_not) {
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
      else if (std::string why = runtime.lacks(value.dtype); !why.empty())
        hide(fmt::format("{}: {}", value.name, why));
      else
        plan.added.push_back(value.name);
    }
  return plan;
}

std::set<std::string_view> made_by(const ModelOutline& outline, bool (*in_onnx_layout)(const OutlineNode&)) {
  std::set<std::string_view> made;
  for (const OutlineNode& node : outline.nodes)
    if (in_onnx_layout == nullptr || in_onnx_layout(node))
      made.insert(node.outputs.begin(), node.outputs.end());
  return made;
}

std::set<std::string_view> outputs_of(const ModelOutline& outline) {
  return {outline.outputs.begin(), outline.outputs.end()};
}

class BranchPlanner {
 public:
  BranchPlanner(const Runtime& runtime, CapturePlan& plan) : runtime_(runtime), plan_(plan) {}

  std::vector<IfOutputs> of(const Graph& graph) {
    std::vector<IfOutputs> ifs;
    for (const Node& node : graph.nodes) {
      if (node.subgraphs.empty()) continue;
      const auto made = std::ranges::find_if(node.outputs, [](ValueId id) { return id != no_value; });
      if (node.op_type != "If" || !has_layers_inside(node) || made == node.outputs.end()) {
        for (const Subgraph& subgraph : node.subgraphs) hide_all(node, *subgraph.graph);
        continue;
      }
      IfOutputs one{graph.values[*made].name, next_name(), {}};
      for (const Subgraph& subgraph : node.subgraphs) one.branches.push_back(branch(subgraph));
      ifs.push_back(std::move(one));
    }
    return ifs;
  }

 private:
  [[nodiscard]] std::string next_name() { return fmt::format("driftscope_inside_{}", count_++); }

  void hide(std::string why) {
    if (plan_.hidden++ == 0) plan_.hidden_why = std::move(why);
  }

  void hide_all(const Node& node, const Graph& inside) {
    for (const Node& one : inside.nodes)
      for (const ValueId id : one.outputs)
        if (id != no_value)
          hide(fmt::format("{} is inside {} ({}), whose iterations the runtime does not return",
                           inside.values[id].name, node.name, node.op_type));
  }

  BranchOutputs branch(const Subgraph& subgraph) {
    const Graph& graph = *subgraph.graph;
    BranchOutputs branch{subgraph.attribute, {}, {}};
    for (const Node& node : graph.nodes)
      for (const ValueId id : node.outputs) {
        if (id == no_value) continue;
        const Value& value = graph.values[id];
        if (value.dtype == DType::undefined)
          hide(fmt::format("{}: its type is not known", value.name));
        else if (std::string why = runtime_.lacks(value.dtype); !why.empty())
          hide(fmt::format("{}: {}", value.name, why));
        else
          branch.outputs.push_back({value.name, next_name(), value.dtype});
      }
    branch.inside = of(graph);
    return branch;
  }

  const Runtime& runtime_;
  CapturePlan& plan_;
  int count_ = 0;
};

}  // namespace

std::vector<IfOutputs> plan_branches(const Graph& graph, const Runtime& runtime, CapturePlan& plan) {
  return BranchPlanner(runtime, plan).of(graph);
}

CapturePlan plan_capture(const Graph& graph, const ModelOutline& outline, const Runtime& runtime) {
  return make_plan(graph, made_by(outline, nullptr), outputs_of(outline), runtime,
                   "is inside a function of the model");
}

CapturePlan plan_capture(const Graph& graph, const Runtime& runtime) {
  std::set<std::string_view> made;
  std::set<std::string_view> outputs;
  for (const Node& node : graph.nodes)
    for (const ValueId id : node.outputs)
      if (id != no_value) made.insert(graph.values[id].name);
  for (const ValueId id : graph.outputs) outputs.insert(graph.values[id].name);
  return make_plan(graph, made, outputs, runtime, "is not produced by any node");
}

CapturePlan plan_fused_capture(const Graph& graph, const ModelOutline& rewritten, const Runtime& runtime,
                               bool (*in_onnx_layout)(const OutlineNode&)) {
  return make_plan(graph, made_by(rewritten, in_onnx_layout), outputs_of(rewritten), runtime,
                   "was fused, folded or laid out differently");
}

}  // namespace driftscope::peer
