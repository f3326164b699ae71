// What one rewriting of a model has in place of another's nodes.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/compare/level_bisect.hpp"

namespace driftscope {
namespace {

using Names = std::set<std::string>;

// Runtimes rename nodes and constants as they rewrite: inputs are not part of a node's identity.
bool same_node(const OutlineNode& a, const OutlineNode& b) {
  return a.op_type == b.op_type && a.domain == b.domain && a.outputs == b.outputs;
}

/// Nodes of `one` that `other` does not have.
std::vector<const OutlineNode*> only_in(const ModelOutline& one, const ModelOutline& other) {
  std::map<std::string, const OutlineNode*> makers;
  for (const OutlineNode& node : other.nodes)
    for (const std::string& output : node.outputs)
      if (!output.empty()) makers.emplace(output, &node);
  std::vector<const OutlineNode*> nodes;
  for (const OutlineNode& node : one.nodes) {
    const auto found = node.outputs.empty() ? makers.end() : makers.find(node.outputs.front());
    if (found == makers.end() || !same_node(node, *found->second)) nodes.push_back(&node);
  }
  return nodes;
}

Names values_of(const ModelOutline& outline) {
  Names names;
  for (const OutlineNode& node : outline.nodes) {
    names.insert(node.inputs.begin(), node.inputs.end());
    names.insert(node.outputs.begin(), node.outputs.end());
  }
  names.erase("");
  return names;
}

/// Numbers nodes so that those that share a value which only their own model has get the same number.
std::vector<std::size_t> components(const std::vector<const OutlineNode*>& nodes, const Names& shared) {
  std::vector<std::size_t> group(nodes.size());
  std::iota(group.begin(), group.end(), std::size_t{0});
  const auto root = [&](std::size_t i) {
    while (group[i] != i) i = group[i];
    return i;
  };
  std::map<std::string, std::size_t> maker;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const std::string& output : nodes[i]->outputs)
      if (!output.empty() && !shared.contains(output)) maker.emplace(output, i);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const std::string& input : nodes[i]->inputs)
      if (const auto found = maker.find(input); found != maker.end()) group[root(i)] = root(found->second);
  for (std::size_t i = 0; i < nodes.size(); ++i) group[i] = root(i);
  return group;
}

NamedNode named(const OutlineNode& node) {
  return {node.name, node.domain.empty() ? node.op_type : node.domain + "." + node.op_type};
}

/// Of `gone`, those that lead to `outputs`, back to values that the other model has as well.
std::vector<std::size_t> leading_to(const std::vector<std::string>& outputs,
                                    const std::vector<const OutlineNode*>& gone, const Names& kept) {
  std::vector<std::size_t> found;
  std::vector<std::string> open = outputs;
  for (std::size_t next = 0; next < open.size(); ++next) {
    if (next >= outputs.size() && kept.contains(open[next])) continue;
    for (std::size_t i = 0; i < gone.size(); ++i) {
      if (std::ranges::find(gone[i]->outputs, open[next]) == gone[i]->outputs.end()) continue;
      if (std::ranges::find(found, i) != found.end()) continue;
      found.push_back(i);
      for (const std::string& input : gone[i]->inputs)
        if (!input.empty()) open.push_back(input);
    }
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace

std::vector<Replacement> compare_outlines(const ModelOutline& before, const ModelOutline& after) {
  const Names names_before = values_of(before);
  const Names names_after = values_of(after);
  const auto gone = only_in(before, after);
  const auto fresh = only_in(after, before);
  const std::vector<std::size_t> groups = components(fresh, names_before);
  std::vector<Replacement> replaced;
  std::map<std::size_t, std::size_t> place;  // of a group
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    if (!place.contains(groups[i])) {
      place[groups[i]] = replaced.size();
      replaced.emplace_back();
    }
    Replacement& one = replaced[place[groups[i]]];
    one.by.push_back(named(*fresh[i]));
    for (const std::string& output : fresh[i]->outputs)
      if (!output.empty() && names_before.contains(output)) one.outputs.push_back(output);
  }
  std::vector<bool> explained(gone.size());
  for (Replacement& one : replaced)
    for (const std::size_t i : leading_to(one.outputs, gone, names_after)) {
      one.nodes.push_back(named(*gone[i]));
      explained[i] = true;
    }
  // Folded, or not needed by anything any more.
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (explained[i]) continue;
    Replacement one{{named(*gone[i])}, {}, {}};
    for (const std::string& output : gone[i]->outputs)
      if (names_after.contains(output)) one.outputs.push_back(output);
    replaced.push_back(std::move(one));
  }
  return replaced;
}

}  // namespace driftscope
