#include "core/convert/tflite/signed_values.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace driftscope::tflite {
namespace {

constexpr int shift = 128;

// Inputs of a quantized operator that belong together; −1: it has none.
struct Places {
  int value = -1;
  int zero_point = -1;
};

struct Quantized {
  Places activation;  // read
  Places weights;
  int result_zero_point = -1;
};

const std::map<std::string_view, Quantized>& quantized_operators() {
  static const std::map<std::string_view, Quantized> operators = {
      {"QuantizeLinear", {{}, {}, 2}},
      {"DequantizeLinear", {{0, 2}, {}, -1}},
      {"QLinearConv", {{0, 2}, {3, 5}, 7}},
      {"QLinearMatMul", {{0, 2}, {3, 5}, 7}},
  };
  return operators;
}

bool keeps_values(const Node& node) {
  static const std::set<std::string_view> operators = {"MaxPool",   "Flatten", "Reshape",
                                                       "Transpose", "Squeeze", "Unsqueeze"};
  return node.domain.empty() && operators.contains(node.op_type);
}

const Quantized* quantized(const Node& node) {
  const auto found = quantized_operators().find(node.op_type);
  return node.domain.empty() && found != quantized_operators().end() ? &found->second : nullptr;
}

class Shifting {
 public:
  explicit Shifting(Graph graph) : graph_(std::move(graph)), is_shifted_(graph_.values.size(), false) {}

  Result<SignedGraph> run() {
    if (std::ranges::none_of(graph_.nodes,
                             [](const Node& node) { return node.op_type.starts_with("QLinear"); }))
      return SignedGraph{std::move(graph_), {}};
    choose();
    SignedGraph result;
    for (ValueId id = 0; id < is_shifted_.size(); ++id)
      if (is_shifted_[id]) {
        graph_.values[id].dtype = DType::int8;
        result.shifted.insert(graph_.values[id].name);
      }
    for (Node& node : graph_.nodes) DRIFTSCOPE_CHECK(rewrite(node));
    result.graph = std::move(graph_);
    return result;
  }

 private:
  [[nodiscard]] bool is_candidate(ValueId id) const {
    const Value& value = graph_.values[id];
    if (value.dtype != DType::uint8 || value.producer == no_node || value.constant) return false;
    if (std::ranges::find(graph_.outputs, id) != graph_.outputs.end()) return false;
    const Node& producer = graph_.nodes[value.producer];
    const Quantized* made = quantized(producer);
    return keeps_values(producer) || (made != nullptr && made->result_zero_point >= 0);
  }

  // What reads it, or computes it from other values, must take part.
  [[nodiscard]] bool fits(const Node& node) const {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == no_value || node.inputs[i] >= is_shifted_.size() || !is_shifted_[node.inputs[i]])
        continue;
      const Quantized* reader = quantized(node);
      const bool as_value = reader != nullptr && reader->activation.value == static_cast<int>(i);
      if (!as_value && !(keeps_values(node) && i == 0 && node.outputs[0] < is_shifted_.size() &&
                         is_shifted_[node.outputs[0]]))
        return false;
    }
    return true;
  }

  void choose() {
    for (ValueId id = 0; id < is_shifted_.size(); ++id) is_shifted_[id] = is_candidate(id);
    for (bool changed = true; changed;) {
      changed = false;
      const auto drop = [&](ValueId id) {
        if (id == no_value || !is_shifted_[id]) return;
        is_shifted_[id] = false;
        changed = true;
      };
      for (const Node& node : graph_.nodes) {
        if (!fits(node))
          for (const ValueId id : node.inputs) drop(id);
        if (keeps_values(node) && !is_shifted_[node.inputs[0]]) drop(node.outputs[0]);
      }
    }
  }

  Status rewrite(Node& node) {
    const Quantized* parts = quantized(node);
    if (parts == nullptr) return {};
    const auto takes_part = [&](ValueId id) {
      return id != no_value && id < is_shifted_.size() && is_shifted_[id];
    };
    if (parts->activation.value >= 0 && takes_part(node.inputs[0]))
      DRIFTSCOPE_CHECK(shift_input(node, parts->activation.zero_point));
    if (parts->result_zero_point >= 0 && takes_part(node.outputs[0]))
      DRIFTSCOPE_CHECK(shift_input(node, parts->result_zero_point));
    if (parts->weights.value < 0) return {};
    const Value& weights = graph_.values[node.inputs[static_cast<std::size_t>(parts->weights.value)]];
    if (weights.dtype != DType::uint8 || !weights.constant) return {};
    DRIFTSCOPE_CHECK(shift_input(node, parts->weights.value));
    return shift_input(node, parts->weights.zero_point);
  }

  Status shift_input(Node& node, int place) {
    const auto i = static_cast<std::size_t>(place);
    if (node.inputs.size() <= i) node.inputs.resize(i + 1, no_value);
    const ValueId id = node.inputs[i];
    if (const auto known = made_.find(id); known != made_.end()) {
      node.inputs[i] = known->second;
      return {};
    }
    Tensor source;
    if (id == no_value) {  // a zero point of 0
      DRIFTSCOPE_TRY(source, Tensor::make(DType::uint8, {}));
    } else if (!graph_.values[id].constant) {
      return in_context(unsupported("its zero points must be constants"), node.name);
    } else {
      source = *graph_.values[id].constant;
    }
    DRIFTSCOPE_TRY(Tensor moved, Tensor::unwritten(DType::int8, source.shape()));
    const auto from = source.values<std::uint8_t>();
    const auto to = moved.mutable_values<std::int8_t>();
    for (std::size_t k = 0; k < from.size(); ++k) to[k] = static_cast<std::int8_t>(int{from[k]} - shift);
    Value value;
    value.name = (id == no_value ? node.name + "/zero_point" : graph_.values[id].name) + "/signed";
    value.dtype = DType::int8;
    value.shape = SymbolicShape(moved.shape().begin(), moved.shape().end());
    value.constant = std::move(moved);
    graph_.values.push_back(std::move(value));
    node.inputs[i] = made_[id] = static_cast<ValueId>(graph_.values.size() - 1);
    return {};
  }

  Graph graph_;
  std::vector<bool> is_shifted_;
  std::map<ValueId, ValueId> made_;
};

}  // namespace

Result<SignedGraph> signed_values(Graph graph) { return Shifting(std::move(graph)).run(); }

void restore_shifted(tf::Lowered& lowered, const std::set<std::string, std::less<>>& shifted) {
  tf::TfGraph& graph = lowered.graph;
  for (auto& [name, place] : lowered.values) {
    if (!shifted.contains(name)) continue;
    const auto asked = std::ranges::find(graph.outputs, place.name);
    if (asked == graph.outputs.end()) continue;
    tf::TensorInfo info = graph.tensors.at(place.name);
    info.dtype = DType::uint8;
    for (std::int64_t& zero : info.quantization.zero_points) zero += shift;
    const std::string outer = place.name + "/uint8";
    graph.nodes.push_back({outer, "QuantizeV2", {place.name}, {}, {}});
    graph.tensors[outer] = std::move(info);
    *asked = outer;
    place.name = outer;
    place.dtype = DType::uint8;
  }
}

}  // namespace driftscope::tflite
