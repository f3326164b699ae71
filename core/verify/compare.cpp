// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "core/graph/constant_nodes.hpp"
#include "core/graph/unfold.hpp"
#include "core/verify/metrics.hpp"

namespace driftscope {
namespace {

/// The trace's tensors by value of the graph; null where it holds none.
class TracedTensors {
 public:
  TracedTensors(const Graph& graph, const Trace& trace) : tensors_(graph.values.size(), nullptr) {
    std::unordered_map<std::string_view, ValueId> ids;
    for (ValueId id = 0; id < graph.values.size(); ++id) ids.emplace(graph.values[id].name, id);
    for (const NamedTensor& named : trace.tensors)
      if (const auto found = ids.find(named.name); found != ids.end())
        tensors_[found->second] = &named.tensor;
  }
  [[nodiscard]] const Tensor* operator[](ValueId value) const { return tensors_[value]; }

 private:
  std::vector<const Tensor*> tensors_;
};

Status check_same_run(const Graph& graph, const Trace& left, const Trace& right,
                      const TracedTensors& left_values, const TracedTensors& right_values) {
  if (!left.model_sha256.empty() && !right.model_sha256.empty() && left.model_sha256 != right.model_sha256)
    return bad_input(fmt::format("the traces are of different models: left {}, right {}", left.model_sha256,
                                 right.model_sha256));
  for (const ValueId id : graph.inputs) {
    const Tensor* a = left_values[id];
    const Tensor* b = right_values[id];
    if (a == nullptr || b == nullptr) continue;
    if (a->dtype() != b->dtype() || a->shape() != b->shape() ||
        !std::equal(a->bytes().begin(), a->bytes().end(), b->bytes().begin()))
      return bad_input(fmt::format(
          "the traces were made with different inputs: \"{}\" is {} {} in the left one, {} {} in the "
          "right one, and their elements differ",
          graph.values[id].name, dtype_name(a->dtype()), shape_text(a->shape()), dtype_name(b->dtype()),
          shape_text(b->shape())));
  }
  return {};
}

using Times = std::unordered_map<std::string_view, std::int64_t>;
Times steady_times(const Trace& trace) {
  Times times;
  for (const NodeRecord& node : trace.nodes) times.emplace(node.name, steady_time_ns(node));
  return times;
}
std::int64_t time_of(const Times& times, const std::string& node) {
  const auto found = times.find(node);
  return found == times.end() ? 0 : found->second;
}

void fill_difference(LayerDifference& layer, const Tensor* left, const Tensor* right) {
  if (left == nullptr || right == nullptr) {
    layer.recorded = false;
    layer.reason = left == nullptr ? "not recorded on the left" : "not recorded on the right";
    if (left != nullptr || right != nullptr) layer.shape = (left != nullptr ? left : right)->shape();
    return;
  }
  layer.shape = left->shape();
  const auto metrics = measure(*right, *left);
  if (!metrics.ok()) {
    layer.reason = metrics.error().message;
    return;
  }
  layer.metrics = *metrics;
  layer.kl = kl_divergence(*left, *right);
}

/// With the layers inside subgraphs that either run went through; nothing where neither recorded any.
std::optional<Graph> unfolded_for(const Graph& model, const Trace& left, const Trace& right) {
  if (left.control_flow.empty() && right.control_flow.empty()) return std::nullopt;
  std::vector<ControlFlowRecord> records = left.control_flow;
  for (const ControlFlowRecord& record : right.control_flow)
    if (std::ranges::none_of(left.control_flow, [&](const ControlFlowRecord& other) {
          return other.node == record.node && other.branch == record.branch;
        }))
      records.push_back(record);
  const auto has = [&](std::string_view name) {
    return left.find(name) != nullptr || right.find(name) != nullptr;
  };
  return unfold(model, records, has);
}

}  // namespace

std::int64_t steady_time_ns(const NodeRecord& node) { return steady_time_ns(node.time_ns); }

std::int64_t steady_time_ns(std::span<const std::int64_t> runs) {
  if (runs.empty()) return 0;
  const std::size_t skipped = runs.size() < 2 ? 0 : std::max<std::size_t>(1, runs.size() / 2);
  std::vector<std::int64_t> times(runs.begin() + static_cast<std::ptrdiff_t>(skipped), runs.end());
  std::sort(times.begin(), times.end());
  const std::size_t middle = times.size() / 2;
  if (times.size() % 2 == 1) return times[middle];
  return times[middle - 1] + (times[middle] - times[middle - 1]) / 2;
}

Result<Comparison> compare(const Graph& model, const Trace& left, const Trace& right,
                           const std::function<void()>& after_layer) {
  const std::optional<Graph> unfolded = unfolded_for(model, left, right);
  const Graph& graph = unfolded ? *unfolded : model;
  const TracedTensors left_values(graph, left);
  const TracedTensors right_values(graph, right);
  DRIFTSCOPE_CHECK(check_same_run(graph, left, right, left_values, right_values));
  const Times left_times = steady_times(left);
  const Times right_times = steady_times(right);
  Comparison comparison;
  comparison.target = right.target;
  const std::vector<bool> constant = constant_nodes(graph);
  bool anything = false;
  std::size_t place = 0;
  for (NodeId number = 0; number < graph.nodes.size(); ++number) {
    const Node& node = graph.nodes[number];
    for (const ValueId id : node.outputs) {
      ++place;
      if (id == no_value || (left_values[id] == nullptr && right_values[id] == nullptr)) continue;
      LayerDifference layer;
      layer.place = place;
      layer.node = node.name;
      layer.op = node.op_type;
      layer.constant = constant[number];
      layer.output = graph.values[id].name;
      layer.left_ns = time_of(left_times, node.name);
      layer.right_ns = time_of(right_times, node.name);
      fill_difference(layer, left_values[id], right_values[id]);
      if (after_layer) after_layer();
      anything = anything || layer.recorded;
      // Another shape or dtype is a difference as well.
      if (layer.recorded && !comparison.first_divergence &&
          (layer.metrics.different_elements > 0 || !layer.reason.empty()))
        comparison.first_divergence = node.name;
      comparison.layers.push_back(std::move(layer));
    }
  }
  if (!anything)
    return bad_input(
        fmt::format("nothing could be compared: no output of a node is in both traces ({} and {} tensors)",
                    left.tensors.size(), right.tensors.size()));
  if (!graph.outputs.empty()) {
    const Tensor* const a = left_values[graph.outputs[0]];
    const Tensor* const b = right_values[graph.outputs[0]];
    if (a != nullptr && b != nullptr) comparison.output = answer_agreement(graph, *a, *b);
  }
  for (const MemoryRecord& sample : right.memory)
    if (sample.bytes > comparison.peak_bytes) {
      comparison.peak_bytes = sample.bytes;
      comparison.peak_kind = sample.kind;
    }
  return comparison;
}

}  // namespace driftscope
