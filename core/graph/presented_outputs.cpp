#include "core/graph/presented_outputs.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "core/graph/node_names.hpp"

namespace driftscope {
namespace {

constexpr std::string_view ml_domain = "ai.onnx.ml";

template <std::size_t count>
bool is_one_of(std::string_view name, const std::array<std::string_view, count>& names) {
  return std::ranges::find(names, name) != names.end();
}

bool is_zip_map(const ModelNode& node) {
  return node.domain == ml_domain && node.op_type == "ZipMap" && node.inputs.size() == 1 &&
         node.outputs.size() == 1;
}

/// Takes labels on to where they become strings, or takes the strings on.
bool passes_labels(const ModelNode& node) {
  if (node.outputs.size() != 1) return false;
  if (node.domain == ml_domain)
    return is_one_of(node.op_type,
                     std::to_array<std::string_view>({"ArrayFeatureExtractor", "LabelEncoder"}));
  return node.domain.empty() &&
         is_one_of(node.op_type, std::to_array<std::string_view>(
                                     {"Identity", "Cast", "Reshape", "Squeeze", "Unsqueeze", "Flatten"}));
}

bool labels_are_strings(const ModelNode& node) {
  constexpr std::array<std::string_view, 3> classifiers = {"TreeEnsembleClassifier", "LinearClassifier",
                                                           "SVMClassifier"};
  if (node.domain != ml_domain || !is_one_of(node.op_type, classifiers) || node.outputs.size() != 2)
    return false;
  return std::ranges::any_of(node.attributes, [](const Attribute& attribute) {
    const auto* const list = std::get_if<std::vector<std::string>>(&attribute.value);
    return attribute.name == "classlabels_strings" && list != nullptr && !list->empty();
  });
}

bool has_subgraph(const ModelNode& node) {
  return std::ranges::any_of(node.attributes, [](const Attribute& attribute) {
    return std::holds_alternative<std::shared_ptr<const ModelGraph>>(attribute.value) ||
           std::holds_alternative<std::vector<std::shared_ptr<const ModelGraph>>>(attribute.value);
  });
}

class Pruning {
 public:
  Pruning(const ModelGraph& file, std::vector<ModelNote>& notes) : file_(file), notes_(notes) {
    for (const UnsupportedTensor& output : file.other_outputs) unheld_.insert(output.name);
    for (const ValueInfo& output : file.outputs) ++reads_[output.name];
    for (const ModelNode& node : file.nodes)
      for (const std::string& input : node.inputs) ++reads_[input];
    removed_.resize(file.nodes.size());
    const bool zips = std::ranges::any_of(file.nodes, [&](const ModelNode& node) {
      return is_zip_map(node) && unheld_.contains(node.outputs[0]);
    });
    something_stays_ = zips || !file.outputs.empty();
  }

  std::optional<ModelGraph> run() {
    bool changed = true;
    while (changed) {  // nodes need not be in order
      changed = false;
      for (std::size_t i = file_.nodes.size(); i-- > 0;) changed = visit(i) || changed;
    }
    if (result_.empty() && std::ranges::count(removed_, true) == 0 && shortened_.empty()) return std::nullopt;
    return pruned();
  }

 private:
  bool visit(std::size_t i) {
    const ModelNode& node = file_.nodes[i];
    if (removed_[i] || node.outputs.empty()) return false;
    const std::string& first = node.outputs[0];
    if (first.empty() || !unheld_.contains(first) || reads_[first] > 0) return false;
    if (labels_are_strings(node)) return shortened_.insert(i).second;
    const bool zip = is_zip_map(node);
    if (!zip && (!something_stays_ || !passes_labels(node))) return false;
    removed_[i] = true;
    for (const std::string& input : node.inputs) {
      --reads_[input];
      if (!zip) unheld_.insert(input);
    }
    if (!zip) return true;
    result_.push_back(node.inputs[0]);
    ++reads_[node.inputs[0]];
    presented_[first] = node.inputs[0];
    return true;
  }

  ModelGraph pruned() {
    ModelGraph graph = file_;
    const std::vector<std::string> names = unique_node_names(file_.nodes);
    graph.nodes.clear();
    for (std::size_t i = 0; i < file_.nodes.size(); ++i) {
      if (removed_[i]) continue;
      graph.nodes.push_back(file_.nodes[i]);
      graph.nodes.back().name = names[i];

      if (shortened_.contains(i)) graph.nodes.back().outputs[0].clear();
    }
    graph.other_outputs.clear();
    for (const UnsupportedTensor& output : file_.other_outputs) {
      const auto from = presented_.find(output.name);
      if (from == presented_.end())
        graph.other_outputs.push_back(output);
      else
        add_note(notes_, {.kind = NoteKind::output_type,
                          .value = output.name,
                          .declared = from->second,
                          .is = output.reason});
    }
    for (const std::string& name : result_) {
      const auto same = std::ranges::find(graph.outputs, name, &ValueInfo::name);
      if (same == graph.outputs.end()) graph.outputs.push_back({.name = name, .shape = {}});
    }
    return graph;
  }

  const ModelGraph& file_;
  std::vector<ModelNote>& notes_;
  std::set<std::string, std::less<>> unheld_;  // values that only lead to outputs that cannot be held
  std::map<std::string, int> reads_;
  std::vector<bool> removed_;
  bool something_stays_ = false;  // an output that can be held
  std::set<std::size_t> shortened_;
  std::vector<std::string> result_;               // what ZipMaps read
  std::map<std::string, std::string> presented_;  // their outputs → what they read
};

}  // namespace

std::optional<ModelGraph> without_presentation(const ModelGraph& file, std::vector<ModelNote>& notes) {
  if (file.other_outputs.empty() || std::ranges::any_of(file.nodes, has_subgraph)) return std::nullopt;
  return Pruning(file, notes).run();
}

}  // namespace driftscope
