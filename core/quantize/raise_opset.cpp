#include "core/quantize/raise_opset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "core/base/text.hpp"
#include "core/base/unique_names.hpp"
#include "core/quantize/model_edit.hpp"

namespace driftscope::quantize {
namespace {

constexpr std::int64_t lowest = 11;
constexpr std::int64_t highest = 21;

/// From version `since` on, the list attribute `name` is input `input` (ONNX, Changelog.md).
struct MovedAttribute {
  std::string_view op;
  std::int64_t since;
  std::string_view name;
  std::size_t input;
};
constexpr std::array moved_attributes = {
    MovedAttribute{"Squeeze", 13, "axes", 1},        MovedAttribute{"Unsqueeze", 13, "axes", 1},
    MovedAttribute{"ReduceSum", 13, "axes", 1},      MovedAttribute{"Split", 13, "split", 1},
    MovedAttribute{"ReduceL1", 18, "axes", 1},       MovedAttribute{"ReduceL2", 18, "axes", 1},
    MovedAttribute{"ReduceLogSum", 18, "axes", 1},   MovedAttribute{"ReduceLogSumExp", 18, "axes", 1},
    MovedAttribute{"ReduceMax", 18, "axes", 1},      MovedAttribute{"ReduceMean", 18, "axes", 1},
    MovedAttribute{"ReduceMin", 18, "axes", 1},      MovedAttribute{"ReduceProd", 18, "axes", 1},
    MovedAttribute{"ReduceSumSquare", 18, "axes", 1}};

/// Changes that are not made here.
struct OtherChange {
  std::string_view op;
  std::int64_t since;
};
constexpr std::array other_changes = {OtherChange{"DFT", 20}, OtherChange{"GroupNormalization", 21},
                                      OtherChange{"Upsample", 11}, OtherChange{"Scatter", 11}};

class Raiser {
 public:
  Raiser(std::int64_t from, std::int64_t to, const std::map<std::string, int>& ranks)
      : from_(from), to_(to), ranks_(ranks) {}

  void use_names(const ModelGraph& graph) {
    for (const ModelNode& node : graph.nodes) {
      for (const std::string& name : node.inputs) (void)names_.insert(name);
      for (const std::string& name : node.outputs) (void)names_.insert(name);
      names_inside(node, [&](const std::string& name) { (void)names_.insert(name); });
    }
    for (const ValueInfo& input : graph.inputs) (void)names_.insert(input.name);
    for (const NamedTensor& one : graph.initializers) (void)names_.insert(one.name);
  }

  Status graph(ModelGraph& graph) {
    for (ModelNode& node : graph.nodes) {
      DRIFTSCOPE_CHECK(inner(node));
      if (!node.domain.empty()) continue;
      auto status = change(graph, node);
      if (!status.ok()) return in_context(std::move(status).error(), "node " + in_quotes(node.name));
    }
    return {};
  }

 private:
  [[nodiscard]] bool crosses(std::int64_t since) const { return from_ < since && to_ >= since; }

  Status inner(ModelNode& node) {
    const auto raised = [&](std::shared_ptr<const ModelGraph>& held) -> Status {
      ModelGraph copy = *held;
      DRIFTSCOPE_CHECK(graph(copy));
      held = std::make_shared<const ModelGraph>(std::move(copy));
      return {};
    };
    const bool has = std::ranges::any_of(node.attributes, [](const Attribute& one) {
      return std::holds_alternative<std::shared_ptr<const ModelGraph>>(one.value);
    });
    if (!has) return {};
    for (Attribute& one : node.attributes.edit())
      if (auto* held = std::get_if<std::shared_ptr<const ModelGraph>>(&one.value))
        DRIFTSCOPE_CHECK(raised(*held));
    return {};
  }

  Status change(ModelGraph& graph, ModelNode& node) {
    for (const OtherChange& row : other_changes)
      if (row.op == node.op_type && crosses(row.since)) return refused(node, row.since);
    for (const MovedAttribute& row : moved_attributes)
      if (row.op == node.op_type && crosses(row.since)) DRIFTSCOPE_CHECK(move(graph, node, row));
    const std::string& op = node.op_type;
    if ((op == "Softmax" || op == "LogSoftmax" || op == "Hardmax") && crosses(13)) return softmax(node);
    if (op == "BatchNormalization" && crosses(14) && node.outputs.size() > 1) return refused(node, 14);
    if (op == "Dropout" && crosses(12)) erase(node, "ratio");
    if (op == "RoiAlign" && crosses(16))
      set(node, {"coordinate_transformation_mode", std::string("output_half_pixel")});
    if (op == "Split" && crosses(18) && node.inputs.size() < 2)
      set(node, int_attribute_of("num_outputs", static_cast<std::int64_t>(node.outputs.size())));
    if (op == "GridSample" && crosses(20)) rename_modes(node);
    return {};
  }

  /// Until 12 the axes from `axis` on were one; it is the same only for the last.
  Status softmax(ModelNode& node) {
    const std::int64_t axis = int_of(node, "axis", 1);
    const auto rank = ranks_.find(node.inputs.empty() ? "" : node.inputs[0]);
    if (axis != -1 && (rank == ranks_.end() || axis != rank->second - 1)) return refused(node, 13);
    erase(node, "axis");
    set(node, int_attribute_of("axis", -1));
    return {};
  }

  Status move(ModelGraph& graph, ModelNode& node, const MovedAttribute& row) {
    for (const Attribute& attribute : node.attributes) {
      const auto* list = std::get_if<std::vector<std::int64_t>>(&attribute.value);
      if (attribute.name != row.name || list == nullptr) continue;
      DRIFTSCOPE_TRY(Tensor tensor, Tensor::from_values<std::int64_t>({std::ssize(*list)}, *list));
      const std::string name = names_.take(fmt::format("{}.{}", node.outputs[0], row.name));
      graph.initializers.push_back({name, std::move(tensor)});
      node.inputs.resize(std::max(node.inputs.size(), row.input + 1));
      node.inputs[row.input] = name;
      erase(node, row.name);
      return {};
    }
    return {};
  }

  static void rename_modes(ModelNode& node) {
    for (Attribute& attribute : node.attributes.edit())
      if (auto* text = std::get_if<std::string>(&attribute.value);
          text != nullptr && attribute.name == "mode") {
        if (*text == "bilinear") *text = "linear";
        if (*text == "bicubic") *text = "cubic";
      }
  }

  static void erase(ModelNode& node, std::string_view name) {
    std::erase_if(node.attributes.edit(), [&](const Attribute& one) { return one.name == name; });
  }
  /// Unless the node says it already.
  static void set(ModelNode& node, Attribute attribute) {
    for (const Attribute& one : node.attributes)
      if (one.name == attribute.name) return;
    node.attributes.push_back(std::move(attribute));
  }
  [[nodiscard]] Error refused(const ModelNode& node, std::int64_t since) const {
    return unsupported(fmt::format(
        "{} means something else since opset {}, and this mode needs opset {} (the model has {}); "
        "export the model for opset {} or later",
        node.op_type, since, to_, from_, to_));
  }

  std::int64_t from_;
  std::int64_t to_;
  const std::map<std::string, int>& ranks_;
  UniqueNames names_;
};

}  // namespace

Status raise_opset(Model& model, std::int64_t version, const std::map<std::string, int>& ranks) {
  const auto found = model.opsets.find("");
  const std::int64_t now = found == model.opsets.end() ? 0 : found->second;
  if (now >= version) return {};
  if (now < lowest || version > highest)
    return unsupported(
        fmt::format("this mode needs opset {}, the model has {}, and only opset {} to {} can be raised; "
                    "export the model for "
                    "opset {} or later",
                    version, now, lowest, highest, version));
  Raiser raiser(now, version, ranks);
  raiser.use_names(model.graph);
  DRIFTSCOPE_CHECK(raiser.graph(model.graph));
  found->second = version;
  return {};
}

}  // namespace driftscope::quantize
