// Compiled for size on the web (cmake/core.cmake).
#include "core/model/strict_notes.hpp"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <unordered_map>

namespace driftscope {
namespace {

/// IR version 3 asks for every initializer to be an input as well.
constexpr std::int64_t first_without_listed = 4;

void note_initializers(const Model& model, std::vector<ModelNote>& notes) {
  if (model.ir_version >= first_without_listed) return;
  std::set<std::string_view> inputs;
  for (const ValueInfo& input : model.graph.inputs) inputs.insert(input.name);
  for (const NamedTensor& initializer : model.graph.initializers)
    if (!inputs.contains(initializer.name))
      notes.push_back({.kind = NoteKind::unlisted_initializer,
                       .value = initializer.name,
                       .declared = fmt::format("{}", model.ir_version)});
}

/// Each node that reads a value which a later node makes.
void note_order(const ModelGraph& graph, std::vector<ModelNote>& notes) {
  std::unordered_map<std::string_view, std::size_t> makers;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const std::string& output : graph.nodes[i].outputs) makers.emplace(output, i);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const std::string& input : graph.nodes[i].inputs) {
      const auto maker = input.empty() ? makers.end() : makers.find(input);
      if (maker == makers.end() || maker->second < i) continue;
      const ModelNode& node = graph.nodes[i];
      notes.push_back({.kind = NoteKind::unsorted_nodes,
                       .node = node.name.empty() ? fmt::format("{}_{}", node.op_type, i) : node.name,
                       .value = input});
    }
}

void collect_domains(const ModelGraph& graph, std::set<std::string_view>& domains) {
  for (const ModelNode& node : graph.nodes) {
    domains.insert(node.domain);
    for (const Attribute& attribute : node.attributes)
      if (const auto* inside = std::get_if<std::shared_ptr<const ModelGraph>>(&attribute.value))
        collect_domains(**inside, domains);
  }
}

}  // namespace

std::vector<ModelNote> strict_notes(const Model& model) {
  std::vector<ModelNote> notes;
  if (model.graph.name.empty()) notes.push_back({.kind = NoteKind::unnamed_graph});
  note_initializers(model, notes);
  for (const ValueInfo& output : model.graph.outputs)
    if (output.dtype == DType::undefined)
      notes.push_back({.kind = NoteKind::untyped_value, .value = output.name});
  note_order(model.graph, notes);
  // Functions are inlined by now: their own domain is used by no node.
  std::set<std::string_view> used;
  collect_domains(model.graph, used);
  for (const auto& [domain, version] : model.opsets)
    if (!used.contains(domain))
      notes.push_back(
          {.kind = NoteKind::unused_opset, .value = domain, .declared = fmt::format("{}", version)});
  return notes;
}

}  // namespace driftscope
