// Compiled for size on the web (cmake/core.cmake).
#include "core/trace/capture_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "core/base/text.hpp"
#include "core/graph/control_flow.hpp"

namespace driftscope {
namespace {

std::optional<NodeId> find_node(const Graph& graph, std::string_view name) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (graph.nodes[i].name == name) return static_cast<NodeId>(i);
  std::size_t place = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), place);
  if (error != std::errc() || end != name.data() + name.size() || place >= graph.nodes.size())
    return std::nullopt;
  return static_cast<NodeId>(place);
}

/// First and last node of the range.
Result<std::pair<NodeId, NodeId>> read_range(const Graph& graph, std::string_view range) {
  const auto last = static_cast<NodeId>(graph.nodes.size() - 1);
  if (range.empty()) return std::pair{NodeId{0}, last};
  const std::size_t dots = range.find("..");
  if (dots == std::string_view::npos)
    return bad_input(
        fmt::format("range {}: expected A..B, as in conv1..conv2, 10..20 or ..pool1", in_quotes(range)));
  const auto end_of = [&](std::string_view name, NodeId otherwise) -> Result<NodeId> {
    if (name.empty()) return otherwise;
    if (const auto node = find_node(graph, name)) return *node;
    return bad_input(fmt::format("range {}: there is no node {}; the graph has {} nodes, from {} to {}",
                                 in_quotes(range), in_quotes(name), graph.nodes.size(),
                                 in_quotes(graph.nodes.front().name), in_quotes(graph.nodes.back().name)));
  };
  DRIFTSCOPE_TRY(const NodeId from, end_of(range.substr(0, dots), 0));
  DRIFTSCOPE_TRY(const NodeId to, end_of(range.substr(dots + 2), last));
  if (from > to)
    return bad_input(fmt::format("range {}: its end comes before its beginning", in_quotes(range)));
  return std::pair{from, to};
}

/// The operators of a graph, apart those inside its If, Loop and Scan.
void collect_ops(const Graph& graph, std::set<std::string_view>& ops, std::set<std::string_view>& inside) {
  for (const Node& node : graph.nodes) {
    ops.insert(node.op_type);
    for (const Subgraph& subgraph : node.subgraphs) collect_ops(*subgraph.graph, inside, inside);
  }
}

Error nothing_chosen(const Graph& graph) {
  std::set<std::string_view> ops;
  std::set<std::string_view> inside;
  collect_ops(graph, ops, inside);
  return bad_input(fmt::format(
      "no node is selected for capture: the graph has {} nodes, from {} to {}, of the operators {}{}",
      graph.nodes.size(), in_quotes(graph.nodes.front().name), in_quotes(graph.nodes.back().name),
      fmt::join(ops, ", "),
      inside.empty() ? ""
                     : fmt::format("; inside its subgraphs, as loop[3]/NAME: {}", fmt::join(inside, ", "))));
}

/// Chooses nodes inside If, Loop and Scan, in any iteration.
class InsideChoice {
 public:
  using Fits = std::function<bool(const std::string& name, const Node& node)>;
  explicit InsideChoice(Fits fits) : fits_(std::move(fits)) {}

  /// `names`: of the values of the graph that the node is in.
  void add(const Node& node, const std::vector<std::string>& names, const std::string& name) {
    if (!has_layers_inside(node)) return;
    for (const Subgraph& subgraph : node.subgraphs) {
      const Graph& graph = *subgraph.graph;
      const std::string_view branch = branch_of(subgraph.attribute);
      const std::string scope = branch_scope(name, branch.empty() ? "*" : branch);
      std::vector<std::string> own;
      for (const Value& value : graph.values) own.push_back(scope + value.name);
      for (std::size_t i = 0; i < graph.captured.size(); ++i)
        own[graph.captured[i]] = names[node.captured[subgraph.captured[i]]];
      for (const Node& one : graph.nodes) {
        const std::string inner = scope + one.name;
        add(one, own, inner);
        if (!fits_(inner, one)) continue;
        for (const ValueId id : one.reads())
          if (id != no_value && !graph.values[id].constant) chosen_.insert(own[id]);
        for (const ValueId id : one.outputs)
          if (id != no_value) chosen_.insert(own[id]);
      }
    }
  }

  [[nodiscard]] const std::set<std::string>& chosen() const { return chosen_; }

 private:
  Fits fits_;
  std::set<std::string> chosen_;
};

}  // namespace

bool glob_matches(std::string_view glob, std::string_view text) {
  std::size_t g = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;  // the last one seen, which takes one more on a mismatch
  std::size_t taken_to = 0;
  while (t < text.size()) {
    if (g < glob.size() && (glob[g] == '?' || (glob[g] != '*' && glob[g] == text[t]))) {
      ++g, ++t;
    } else if (g < glob.size() && glob[g] == '*') {
      star = g++;
      taken_to = t;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = ++taken_to;
    } else {
      return false;
    }
  }
  return glob.find_first_not_of('*', g) == std::string_view::npos;
}

Result<std::vector<std::string>> chosen_values(const Graph& graph, const CaptureFilter& filter) {
  if (graph.nodes.empty()) return std::vector<std::string>();
  DRIFTSCOPE_TRY(const auto range, read_range(graph, filter.range));
  const auto fits = [&](const std::string& name, const Node& node) {
    const bool named = std::any_of(filter.nodes.begin(), filter.nodes.end(), [&](const auto& glob) {
      return glob_matches(in_any_iteration(glob), name);
    });
    const bool of_op = std::find(filter.ops.begin(), filter.ops.end(), node.op_type) != filter.ops.end();
    return (filter.nodes.empty() || named) && (filter.ops.empty() || of_op);
  };
  std::vector<bool> chosen(graph.values.size());
  bool any = false;
  InsideChoice inside(fits);
  std::vector<std::string> all_names;
  for (const Value& value : graph.values) all_names.push_back(value.name);
  for (NodeId id = range.first; id <= range.second; ++id) {
    inside.add(graph.nodes[id], all_names, graph.nodes[id].name);
    if (!fits(graph.nodes[id].name, graph.nodes[id])) continue;
    any = true;
    for (const ValueId input : graph.nodes[id].reads())
      if (input != no_value) chosen[input] = graph.values[input].producer != no_node;
    for (const ValueId output : graph.nodes[id].outputs)
      if (output != no_value) chosen[output] = true;
  }
  if (!any && inside.chosen().empty()) return nothing_chosen(graph);
  std::vector<std::string> names;
  std::set<std::string> others = inside.chosen();
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    const bool read_inside = others.erase(graph.values[id].name) > 0 && graph.values[id].producer != no_node;
    if (chosen[id] || read_inside) names.push_back(graph.values[id].name);
  }
  names.insert(names.end(), others.begin(), others.end());
  return names;
}

}  // namespace driftscope
