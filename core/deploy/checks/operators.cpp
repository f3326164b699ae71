// Operators that a target lacks, by asking its engine for every node, those inside If, Loop and Scan
// included.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/text.hpp"
#include "core/deploy/deploy_check.hpp"

namespace driftscope::deploy_checks::operators {

namespace {

/// Nodes of one operator that fail for one reason.
struct Lack {
  std::string first;
  std::int64_t count = 0;
  std::vector<std::string> targets;
};
using Lacks = std::map<std::pair<std::string, std::string>, Lack>;  ///< by operator and reason

std::string operator_name(const Node& node) {
  return fmt::format("{}{}{} (opset {})", node.domain, node.domain.empty() ? "" : ".", node.op_type,
                     node.opset);
}

/// The reason without the node's own name, so that nodes of one operator are one finding.
std::string common_reason(std::string reason, const Node& node) {
  for (const std::string& name : {fmt::format("node {}: ", in_quotes(node.name)),
                                  fmt::format("node {}: ", node.name), node.name + ": "})
    if (const std::size_t at = reason.find(name); at != std::string::npos) reason.erase(at, name.size());
  return reason;
}

void ask(const DeployTarget& target, const Graph& graph, const std::string& inside, Lacks& lacks) {
  for (const Node& node : graph.nodes) {
    Availability here;
    if (!node.opaque.empty() && !target.engine->reads_source())
      here = {false, node.opaque};
    else if (node.opaque.empty())
      here = target.engine->supports(graph, node);
    if (!here.ok) {
      Lack& lack = lacks[{operator_name(node), common_reason(here.reason, node)}];
      if (lack.first.empty()) lack.first = inside + node.name;
      const bool first_target = lack.targets.empty() || lack.targets.front() == target.name;
      if (first_target) ++lack.count;
      if (lack.targets.empty() || lack.targets.back() != target.name) lack.targets.push_back(target.name);
    }
    for (const Subgraph& subgraph : node.subgraphs)
      ask(target, *subgraph.graph, fmt::format("{}{}[{}]/", inside, node.name, subgraph.attribute), lacks);
  }
}

std::vector<DeployFinding> find(const DeployContext& context) {
  std::vector<DeployFinding> findings;
  Lacks lacks;
  for (const DeployTarget& target : context.targets) {
    ask(target, context.model->best_graph(), "", lacks);
    if (target.refusal)
      findings.push_back({.severity = DeploySeverity::error,
                          .where = context.model->name,
                          .targets = {target.name},
                          .shows = "the runtime refuses the model",
                          .why = *target.refusal,
                          .fix =
                              "export the model with another opset or without the operator that is named, or "
                              "use a runtime that has it"});
  }
  for (auto& [key, lack] : lacks)
    findings.push_back(
        {.severity = DeploySeverity::error,
         .where = lack.first,
         .count = lack.count,
         .targets = std::move(lack.targets),
         .shows = fmt::format("{} cannot run: the model does not load", key.first),
         .why = key.second,
         .fix =
             "export the model with operators of ONNX's own domain (another opset, or the operator taken "
             "apart), or choose a runtime that has this one (target pc/ort shows whether ONNX Runtime has)"});
  return findings;
}

}  // namespace

void add_to(DeployCheckTable& table) {
  table.add(
      {.name = "operators", .about = "operators that a target lacks, asked for every node", .find = find});
}

}  // namespace driftscope::deploy_checks::operators
