#include "core/graph/control_flow.hpp"

#include <algorithm>

#include "core/graph/attributes.hpp"

namespace driftscope {

std::string branch_scope(std::string_view node, std::string_view branch) {
  return std::string(node).append("[").append(branch).append("]/");
}

std::string iteration_scope(std::string_view node, std::int64_t iteration) {
  return branch_scope(node, std::to_string(iteration));
}

std::string in_any_iteration(std::string_view name) {
  std::string result;
  for (std::size_t i = 0; i < name.size(); ++i) {
    result += name[i];
    if (name[i] != '[') continue;
    std::size_t end = i + 1;
    while (end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
    if (end == i + 1 || !name.substr(end).starts_with("]/")) continue;
    result += '*';
    i = end - 1;
  }
  return result;
}

std::string_view outermost_owner(std::string_view name,
                                 const std::function<bool(std::string_view)>& is_node) {
  for (std::size_t end = name.find('['); end != std::string_view::npos; end = name.find('[', end + 1))
    if (name.find("]/", end) != std::string_view::npos && is_node(name.substr(0, end)))
      return name.substr(0, end);
  return {};
}

bool has_value_inside(const Graph& graph, std::string_view name) {
  if (graph.find_value(name)) return true;
  for (const Node& node : graph.nodes) {
    if (!has_layers_inside(node) || !name.starts_with(node.name)) continue;
    const std::string_view behind = name.substr(node.name.size());
    const std::size_t end = behind.find("]/");
    if (!behind.starts_with('[') || end == std::string_view::npos) continue;
    const std::string_view place = behind.substr(1, end - 1);
    for (const Subgraph& subgraph : node.subgraphs) {
      const std::string_view branch = branch_of(subgraph.attribute);
      const bool iteration =
          place == "*" || (!place.empty() && place.find_first_not_of("0123456789") == std::string_view::npos);
      if ((branch.empty() ? iteration : place == branch) &&
          has_value_inside(*subgraph.graph, behind.substr(end + 2)))
        return true;
    }
  }
  return false;
}

std::string_view branch_of(std::string_view attribute) {
  if (attribute == "then_branch") return "then";
  return attribute == "else_branch" ? "else" : "";
}

bool has_layers_inside(const Node& node) {
  if (!node.domain.empty() || node.subgraphs.empty() || !node.opaque.empty()) return false;
  return node.op_type == "If" || (node.op_type == "Loop" && node.inputs.size() >= own_body_inputs(node)) ||
         (node.op_type == "Scan" && node.opset >= 9);
}

std::size_t own_body_inputs(const Node& node) { return node.op_type == "Loop" ? 2 : 0; }

std::size_t carried_values(const Node& node) {
  const std::size_t inputs = node.inputs.size();
  if (node.op_type == "Loop") return inputs - std::min(inputs, own_body_inputs(node));
  if (node.op_type != "Scan") return 0;
  const auto scanned = int_attribute(node, "num_scan_inputs", 0);
  if (!scanned.ok() || *scanned < 0) return 0;
  return inputs - std::min(inputs, static_cast<std::size_t>(*scanned));
}

}  // namespace driftscope
