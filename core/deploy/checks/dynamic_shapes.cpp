// Sizes that the model leaves open, or that depend on data: what they cost, and who cannot have them.
#include <fmt/format.h>

#include <algorithm>

#include "core/deploy/deploy_check.hpp"
#include "core/inputs/input_sizes.hpp"

namespace driftscope::deploy_checks::dynamic_shapes {

namespace {

/// MLGraphBuilder makes a graph of fixed sizes (W3C, Web Neural Network API, "MLOperandDescriptor").
constexpr std::string_view fixed_sizes_only = "webnn";

std::vector<std::string> targets_with_fixed_sizes(const DeployContext& context) {
  std::vector<std::string> names;
  for (const DeployTarget& target : context.targets)
    if (target.engine->info().browser_feature == fixed_sizes_only) names.push_back(target.name);
  return names;
}

/// "batch of x (1 was taken), time of x (16000 was taken)".
std::string open_sizes(const FoundSizes& sizes) {
  if (sizes.open.empty()) return "what was given";
  std::vector<std::string> texts;
  for (const FoundSizes::Open& open : sizes.open)
    texts.push_back(fmt::format("{} of {} ({} was taken)",
                                open.symbol.empty() ? "an unnamed size" : open.symbol, open.input,
                                open.size));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::vector<std::string> open_inputs(const Graph& graph) {
  std::vector<std::string> texts;
  for (const ValueId id : graph.inputs)
    if (!graph.values[id].static_shape()) texts.push_back(typed_input_text(graph.values[id]));
  return texts;
}

void find_open(const DeployContext& context, std::vector<DeployFinding>& findings) {
  const DeployModel& model = *context.model;
  const std::vector<std::string> inputs = open_inputs(model.graph);
  if (inputs.empty()) return;
  const std::string where = fmt::format("{}", fmt::join(inputs, ", "));
  if (!model.sizes) {
    findings.push_back(
        {.severity = DeploySeverity::error,
         .where = where,
         .shows = "no ordinary sizes of the inputs fit the graph: whoever loads it must know them",
         .why = model.no_sizes,
         .fix = "give the sizes with --dim and --input-shape, and export the model with them"});
    return;
  }
  const std::vector<std::string> fixed = targets_with_fixed_sizes(context);
  findings.push_back(
      {.severity = DeploySeverity::note,
       .where = where,
       .count = static_cast<std::int64_t>(inputs.size()),
       .shows = "sizes are open: each new one makes engines plan, and GPUs compile, anew",
       .why = fmt::format("the model does not fix {}", open_sizes(*model.sizes)),
       .fix = "fix in the file what never changes; pad the rest to few sizes, and warm up each"});
  if (!fixed.empty())
    findings.push_back(
        {.severity = DeploySeverity::warning,
         .where = where,
         .targets = fixed,
         .shows = "the runtime builds its graph for one set of sizes only",
         .why = fmt::format("WebNN has fixed sizes, the model leaves open {}", open_sizes(*model.sizes)),
         .fix = "fix the sizes when the model is exported, or give them to the runtime before it "
                "loads (ONNX Runtime Web: freeDimensionOverrides)"});
}

/// The first nodes whose outputs' sizes do not follow from those of the inputs.
void find_data_dependent(const DeployContext& context, std::vector<DeployFinding>& findings) {
  const Graph& graph = context.model->sizes->bound;
  std::string first;
  std::int64_t count = 0;
  const auto unknown = [&](ValueId id) {
    const Value& value = graph.values[id];
    // What the runtime alone knows, opaque, is the operators' business.
    return value.producer != no_node && !value.constant && !value.static_shape();
  };
  for (const Node& node : graph.nodes) {
    if (!node.opaque.empty()) return;
    if (std::ranges::none_of(node.outputs, [&](ValueId id) { return id != no_value && unknown(id); }))
      continue;
    const auto reads = node.reads();
    if (std::ranges::any_of(reads, [&](ValueId id) { return id != no_value && unknown(id); })) continue;
    if (count++ == 0) first = fmt::format("{} ({})", node.name, node.op_type);
  }
  if (count == 0) return;
  const std::vector<std::string> fixed = targets_with_fixed_sizes(context);
  findings.push_back(
      {.severity = fixed.empty() ? DeploySeverity::note : DeploySeverity::error,
       .where = first,
       .count = count,
       .targets = fixed,
       .shows = fixed.empty() ? "a GPU waits for its own result here: memory cannot be planned before"
                              : "the runtime cannot build this graph: it has fixed sizes",
       .why = "the size of the output depends on the data, not only on the sizes of the inputs",
       .fix = "move the step (non-maximum suppression, as a rule) out of the model, or give it a fixed "
              "number of "
              "results (TopK and padding)"});
}

std::vector<DeployFinding> find(const DeployContext& context) {
  std::vector<DeployFinding> findings;
  find_open(context, findings);
  if (context.model->sizes) find_data_dependent(context, findings);
  return findings;
}

}  // namespace

void add_to(DeployCheckTable& table) {
  table.add({.name = "dynamic_shapes", .about = "sizes that are open or depend on data", .find = find});
}

}  // namespace driftscope::deploy_checks::dynamic_shapes
