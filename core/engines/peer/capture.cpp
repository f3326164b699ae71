// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/peer/capture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "core/graph/attributes.hpp"
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

// All iterations of one loop together.
constexpr std::int64_t max_loop_bytes = std::int64_t{64} << 20;
// Values of branches whose size is known, together: one run returns them all.
constexpr std::int64_t max_branch_bytes = std::int64_t{256} << 20;

// The one integer of a constant; nothing for other values.
std::optional<std::int64_t> known_integer(const Graph& graph, ValueId id) {
  if (id == no_value) return std::nullopt;
  const Value& value = graph.values[id];
  std::optional<Tensor> tensor = value.constant;
  if (!tensor && value.producer != no_node && graph.nodes[value.producer].op_type == "Constant")
    if (const Attribute* given = graph.nodes[value.producer].attribute("value"))
      if (const auto* held = std::get_if<Tensor>(&given->value)) tensor = *held;
  if (!tensor || tensor->dtype() != DType::int64 || tensor->elements() != 1) return std::nullopt;
  return tensor->values<std::int64_t>()[0];
}

// At most; nothing where it is not known before the run.
std::optional<std::int64_t> iterations_of(const Graph& graph, const Node& node) {
  if (node.op_type == "Loop") return known_integer(graph, node.inputs[0]);
  const std::size_t first = carried_values(node);
  if (node.op_type != "Scan" || first >= node.inputs.size() || node.inputs[first] == no_value)
    return std::nullopt;
  const auto shape = graph.values[node.inputs[first]].static_shape();
  const auto axes = ints_attribute(node, "scan_input_axes", {});
  if (!shape || !axes.ok()) return std::nullopt;
  const auto axis = normalize_axis(axes->empty() ? 0 : axes->front(), shape->size());
  return axis.ok() ? std::optional((*shape)[*axis]) : std::nullopt;
}

class InsidePlanner {
 public:
  InsidePlanner(const Runtime& runtime, CapturePlan& plan) : runtime_(runtime), plan_(plan) {}

  std::vector<InsideOutputs> of(const Graph& graph) {
    std::vector<InsideOutputs> nodes;
    for (const Node& node : graph.nodes) {
      if (node.subgraphs.empty()) continue;
      const auto made = std::ranges::find_if(node.outputs, [](ValueId id) { return id != no_value; });
      if (!has_layers_inside(node) || made == node.outputs.end()) {
        hide_all(node, "which is one layer");
        continue;
      }
      InsideOutputs one{graph.values[*made].name, next_name(), {}};
      if (node.op_type == "If") {
        for (const Subgraph& subgraph : node.subgraphs) one.subgraphs.push_back(branch(subgraph));
      } else if (const auto iterations = iterations_of(graph, node); iterations) {
        one.subgraphs.push_back(body(node, *iterations));
      } else {
        hide_all(node, "whose number of iterations only the run knows");
        continue;
      }
      nodes.push_back(std::move(one));
    }
    return nodes;
  }

 private:
  [[nodiscard]] std::string next_name() { return fmt::format("driftscope_inside_{}", count_++); }

  void hide(const Value& value, std::string_view why) {
    if (plan_.hidden++ == 0) plan_.hidden_why = fmt::format("{}: {}", value.name, why);
  }

  void hide_all(const Node& node, std::string_view why) {
    const std::string where = fmt::format("it is inside {} ({}), {}", node.name, node.op_type, why);
    for (const Subgraph& subgraph : node.subgraphs)
      for (const Node& one : subgraph.graph->nodes)
        for (const ValueId id : one.outputs)
          if (id != no_value) hide(subgraph.graph->values[id], where);
  }

  /// Whether it can be passed; otherwise it is hidden.
  bool passes(const Value& value) {
    const std::string why =
        value.dtype == DType::undefined ? "its type is not known" : runtime_.lacks(value.dtype);
    if (!why.empty()) hide(value, why);
    return why.empty();
  }

  SubgraphOutputs branch(const Subgraph& subgraph) {
    const Graph& graph = *subgraph.graph;
    SubgraphOutputs branch{subgraph.attribute, {}, {}};
    for (const Node& node : graph.nodes)
      for (const ValueId id : node.outputs) {
        if (id == no_value || !passes(graph.values[id])) continue;
        const Value& value = graph.values[id];
        const auto shape = value.static_shape();
        const auto bytes = shape ? tensor_byte_size(value.dtype, *shape) : Result<std::int64_t>(0);
        if (!bytes.ok() || *bytes > branch_room_) {
          hide(value, "the values of branches together take too much memory");
          continue;
        }
        branch_room_ -= *bytes;
        branch.outputs.push_back({value.name, next_name(), value.dtype});
      }
    branch.inside = of(graph);
    return branch;
  }

  // The runtime stacks the values of all iterations: they must have one shape, and there is room for so much.
  SubgraphOutputs body(const Node& node, std::int64_t iterations) {
    const Subgraph& subgraph = node.subgraphs.front();
    const Graph& graph = *subgraph.graph;
    SubgraphOutputs body{subgraph.attribute, {}, {}};
    std::int64_t room = max_loop_bytes / std::max<std::int64_t>(iterations, 1);
    for (const Node& one : graph.nodes) {
      if (!one.subgraphs.empty()) hide_all(one, "which runs in each iteration of a loop");
      for (const ValueId id : one.outputs) {
        if (id == no_value || !passes(graph.values[id])) continue;
        const Value& value = graph.values[id];
        const auto shape = value.static_shape();
        const auto bytes = shape ? tensor_byte_size(value.dtype, *shape) : Result<std::int64_t>(0);
        if (!shape || !bytes.ok()) {
          hide(value, "its shape may differ from iteration to iteration");
        } else if (*bytes > room) {
          hide(value, "the iterations of its loop together take too much memory");
        } else {
          room -= *bytes;
          body.outputs.push_back({value.name, next_name(), value.dtype});
        }
      }
    }
    return body;
  }

  const Runtime& runtime_;
  CapturePlan& plan_;
  std::int64_t branch_room_ = max_branch_bytes;
  int count_ = 0;
};

}  // namespace

std::vector<InsideOutputs> plan_inside(const Graph& graph, const Runtime& runtime, CapturePlan& plan) {
  return InsidePlanner(runtime, plan).of(graph);
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
