#include "core/graph/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "core/base/json.hpp"
#include "core/graph/constant_nodes.hpp"
#include "core/graph/control_flow.hpp"

namespace driftscope {
namespace {

bool all_texts(const nlohmann::json& node, const char* key) {
  const auto found = node.find(key);
  if (found == node.end() || !found->is_array()) return false;
  for (const auto& name : *found)
    if (!name.is_string()) return false;
  return true;
}

// What an iteration starts from: the values outside, or what the one before made.
void add_carried(const Node& node, const Graph& body, const std::vector<std::string>& outside,
                 const std::vector<std::string>& inside, Topology& topology) {
  const std::size_t own = own_body_inputs(node);
  const std::size_t first_output = node.op_type == "Loop" ? 1 : 0;
  for (std::size_t i = own; i < body.inputs.size() && i < node.inputs.size(); ++i) {
    TopologyNode carried{inside[body.inputs[i]], "", {}, {inside[body.inputs[i]]}, false};
    carried.inputs.push_back(node.inputs[i] == no_value ? "" : outside[node.inputs[i]]);
    const std::size_t output = first_output + i - own;
    if (i < own + carried_values(node) && output < body.outputs.size())
      carried.inputs.push_back(inside[body.outputs[output]]);
    topology.nodes.push_back(std::move(carried));
  }
}

// The nodes of a graph inside `scope`, whose values have these names; subgraphs come before their node.
void add_nodes(const Graph& graph, const std::vector<std::string>& names, const std::string& scope,
               Topology& topology) {
  const std::vector<bool> constant = constant_nodes(graph);
  for (NodeId number = 0; number < graph.nodes.size(); ++number) {
    const Node& node = graph.nodes[number];
    TopologyNode made{scope + node.name, node.op_type, {}, {}, constant[number] && scope.empty()};
    for (const ValueId id : node.reads())
      if (id != no_value && !graph.values[id].constant) made.inputs.push_back(names[id]);
    for (const ValueId id : node.outputs)
      if (id != no_value) made.outputs.push_back(names[id]);
    for (const Subgraph& subgraph : node.subgraphs) {
      const std::string_view branch = branch_of(subgraph.attribute);
      if (!has_layers_inside(node)) continue;
      const Graph& inside = *subgraph.graph;
      const std::string inner = branch_scope(made.name, branch.empty() ? any_iteration : branch);
      std::vector<std::string> inner_names;
      for (const Value& value : inside.values) inner_names.push_back(inner + value.name);
      for (std::size_t i = 0; i < inside.captured.size(); ++i)
        inner_names[inside.captured[i]] = names[node.captured[subgraph.captured[i]]];
      if (branch.empty()) add_carried(node, inside, names, inner_names, topology);
      add_nodes(inside, inner_names, inner, topology);
      for (const ValueId id : inside.outputs)
        if (!inside.values[id].constant) made.inputs.push_back(inner_names[id]);
    }
    topology.nodes.push_back(std::move(made));
  }
}

}  // namespace

Topology topology_of(const Graph& graph) {
  Topology topology;
  std::vector<std::string> names;
  for (const Value& value : graph.values) names.push_back(value.name);
  add_nodes(graph, names, "", topology);
  return topology;
}

namespace {

// Replaces the outermost "loop[*]/" of names by the iterations that are known of it, then those inside.
class Iterations {
 public:
  explicit Iterations(std::span<const std::string_view> values) : values_(values.begin(), values.end()) {
    std::ranges::sort(values_);
  }

  void add(std::span<const TopologyNode> nodes, Topology& result) const {
    for (std::size_t begin = 0; begin < nodes.size();) {
      const std::string loop = loop_of(nodes[begin].name);
      if (loop.empty()) {
        result.nodes.push_back(nodes[begin++]);
        continue;
      }
      const std::string scope = branch_scope(loop, any_iteration);
      std::size_t end = begin;
      while (end < nodes.size() && nodes[end].name.starts_with(scope)) ++end;
      std::vector<std::int64_t> known = iterations_of(loop);
      // The names come from files: a body is not repeated without bound.
      const std::size_t room = max_nodes - std::min(max_nodes, result.nodes.size());
      known.resize(std::min(known.size(), room / (end - begin)));
      std::vector<TopologyNode> unrolled;
      std::string before;
      for (const std::int64_t iteration : known) {
        const std::string now = iteration_scope(loop, iteration);
        for (const TopologyNode& node : nodes.subspan(begin, end - begin))
          unrolled.push_back(in_iteration(node, scope, now, before));
        before = now;
      }
      // What the loop itself reads is of the last.
      const bool has_owner = end < nodes.size() && nodes[end].name == loop;
      if (has_owner) unrolled.push_back(in_iteration(nodes[end], scope, before, before));
      add(unrolled, result);
      begin = end + (has_owner ? 1 : 0);
    }
  }

 private:
  // The outermost loop that a node of any iteration is inside; empty for others.
  static std::string loop_of(std::string_view name) {
    const std::size_t end = name.find("[*]/");
    return end == std::string_view::npos ? std::string() : std::string(name.substr(0, end));
  }

  [[nodiscard]] std::vector<std::int64_t> iterations_of(const std::string& loop) const {
    const std::string prefix = loop + "[";
    std::set<std::int64_t> found;
    for (auto at = std::ranges::lower_bound(values_, prefix); at != values_.end() && at->starts_with(prefix);
         ++at) {
      std::int64_t number = 0;
      const char* const begin = at->data() + prefix.size();
      const char* const end = at->data() + at->size();
      const auto [behind, error] = std::from_chars(begin, end, number);
      if (error == std::errc() && number >= 0 && std::string_view(behind, end).starts_with("]/"))
        found.insert(number);
    }
    return {found.begin(), found.end()};
  }

  static TopologyNode in_iteration(const TopologyNode& node, std::string_view scope, std::string_view now,
                                   std::string_view before) {
    const auto named = [&](const std::string& name, std::string_view place) {
      return name.starts_with(scope) ? std::string(place) + name.substr(scope.size()) : name;
    };
    TopologyNode made{named(node.name, now), node.op, {}, {}, node.constant};
    const bool carried = node.op.empty() && node.outputs.size() == 1 && node.outputs[0].starts_with(scope) &&
                         node.outputs[0].find("[*]/", scope.size()) == std::string::npos;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (now.empty() && node.inputs[i].starts_with(scope)) continue;  // no iteration is known
      if (!carried)
        made.inputs.push_back(named(node.inputs[i], now));
      else if (node.inputs.size() == 1 || (before.empty() ? i == 0 : i == 1))
        made.inputs.push_back(named(node.inputs[i], before));
    }
    for (const std::string& output : node.outputs) made.outputs.push_back(named(output, now));
    return made;
  }

  static constexpr std::size_t max_nodes = std::size_t{1} << 18;

  std::vector<std::string_view> values_;
};

}  // namespace

Topology with_iterations(const Topology& topology, std::span<const std::string_view> values) {
  const bool has_loops = std::ranges::any_of(
      topology.nodes, [](const TopologyNode& node) { return node.name.find("[*]/") != std::string::npos; });
  if (!has_loops) return topology;
  Topology result;
  Iterations(values).add(topology.nodes, result);
  return result;
}

std::string topology_json(const Topology& topology) {
  auto nodes = nlohmann::ordered_json::array();
  for (const TopologyNode& node : topology.nodes) {
    nlohmann::ordered_json one = {
        {"node", node.name}, {"op", node.op}, {"inputs", node.inputs}, {"outputs", node.outputs}};
    if (node.constant) one["constant"] = true;
    nodes.push_back(std::move(one));
  }
  return json_text(nodes);
}

Result<Topology> read_topology(std::string_view text) {
  const auto json = parse_json(text);
  if (!json.is_array()) return bad_input("the model's structure: expected a JSON array of nodes");
  Topology topology;
  for (const auto& node : json) {
    if (!node.is_object() || !node.contains("node") || !node["node"].is_string() || !node.contains("op") ||
        !node["op"].is_string() || !all_texts(node, "inputs") || !all_texts(node, "outputs"))
      return bad_input(
          fmt::format("the model's structure: node {} lacks \"node\", \"op\", \"inputs\" or \"outputs\"",
                      topology.nodes.size()));
    topology.nodes.push_back({node["node"].get<std::string>(), node["op"].get<std::string>(),
                              node["inputs"].get<std::vector<std::string>>(),
                              node["outputs"].get<std::vector<std::string>>(),
                              node.contains("constant") && node["constant"] == true});
  }
  return topology;
}

}  // namespace driftscope
