// Layers of float16 and bfloat16 that do not fit the recorded values before them, on runtimes that compute in
// float32 and put a Cast at each recorded value: what the next node reads was never rounded, and never
// overflowed. Such a layer is computed again from the values before it as they were before they were stored,
// one node back, two, four and so on; where one of these explains every element it is rounding.
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>
#include <map>

#include "core/verify/judge.hpp"
#include "core/verify/judgeable.hpp"
#include "core/verify/verify_tensor.hpp"

namespace driftscope::judges::wide_storage {
namespace {

constexpr std::size_t max_nodes = 64;
constexpr std::int64_t max_elements = std::int64_t{1} << 22;  // of all values together

using Values = std::map<ValueId, Evaluated<Bounded>>;

// Nodes whose results may have stayed in float32: those that make narrow values, up to so many steps back.
// A Cast of the model stores its result.
std::vector<NodeId> group_of(const LayerCase& layer, int steps) {
  std::vector<NodeId> group = {layer.id};
  std::size_t begin = 0;
  for (int step = 0; step < steps; ++step) {
    const std::size_t end = group.size();
    for (; begin < end; ++begin)
      for (const ValueId id : layer.graph.nodes[group[begin]].inputs) {
        const NodeId producer = id == no_value ? no_node : layer.graph.values[id].producer;
        if (producer == no_node || std::ranges::find(group, producer) != group.end()) continue;
        if (!is_narrow_floating(layer.derivation.known_dtype(id))) continue;
        const Node& node = layer.graph.nodes[producer];
        if (node.op_type != "Cast" && node.subgraphs.empty() && node.opaque.empty())
          group.push_back(producer);
      }
    if (group.size() == end || group.size() > max_nodes) break;
  }
  std::ranges::sort(group);
  return group;
}

std::optional<Evaluated<Bounded>> recorded_value(const LayerCase& layer, ValueId id) {
  const auto tensor = layer.derivation.known_value(id);
  if (!tensor) return std::nullopt;
  auto value = lift<Bounded>(*tensor);
  if (!value.ok()) return std::nullopt;
  if (is_narrow_floating(value->dtype)) value->dtype = DType::float32;
  return *std::move(value);
}

std::optional<Evaluated<Bounded>> computed_wide(const LayerCase& layer, const std::vector<NodeId>& group) {
  Values values;
  std::int64_t elements = 0;
  for (const NodeId id : group) {
    const Node& node = layer.graph.nodes[id];
    std::vector<const Evaluated<Bounded>*> inputs;
    for (const ValueId input : node.inputs) {
      if (input == no_value) {
        inputs.push_back(nullptr);
        continue;
      }
      if (!values.contains(input)) {
        auto value = recorded_value(layer, input);
        if (!value) return std::nullopt;
        elements += element_count(value->shape);
        values[input] = *std::move(value);
      }
      inputs.push_back(&values[input]);
    }
    auto results = evaluate<Bounded>(node, inputs, layer.threads, {.model = &layer.run.model});
    if (!results.ok()) return std::nullopt;
    if (id == layer.id) return std::move((*results)[layer.output]);
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != no_value) {
        elements += element_count((*results)[i].shape);
        values[node.outputs[i]] = std::move((*results)[i]);
      }
    if (elements > max_elements) return std::nullopt;
  }
  return std::nullopt;
}

bool explains(const LayerCase& layer, const Evaluated<Bounded>& want, LayerVerdict& verdict) {
  const Tensor& got = layer.got;
  if (want.shape != got.shape() || want.dtype != DType::float32 || want.real.empty()) return false;
  const ErrorModel model = layer.model();
  const TensorVerification verified = verify_tensor(want.real, got, model, layer.threads);
  const TensorUse& use = verified.verified;
  if (use.specials > 0 || use.use.worst > 1.0 || use.use.likely > 1.0) return false;
  if (blindness(want.real, {.ulp = model.ulp, .group = true}, layer.threads) != Blindness::none) return false;
  verdict.verdict = Verdict::rounding;
  verdict.metrics = verified.metrics;
  verdict.budget_used = use.use.worst;
  verdict.budget_used_statistical = use.use.likely;
  verdict.mean_signed_z = 0.0;
  verdict.worst.reset();
  return true;
}

void judge(const LayerCase& layer, LayerVerdict& verdict) {
  if (!is_bad(verdict.verdict) || layer.in_group() || !is_narrow_floating(layer.got.dtype())) return;
  if (!layer.node().subgraphs.empty() || !layer.node().opaque.empty()) return;
  std::size_t size = 1;
  for (int steps = 1; steps <= 16; steps *= 2) {
    const std::vector<NodeId> group = group_of(layer, steps);
    if (group.size() == size || group.size() > max_nodes) return;
    size = group.size();
    const auto want = computed_wide(layer, group);
    if (!want || !explains(layer, *want, verdict)) continue;
    verdict.findings = {{.id = "storage.wide",
                         .words = {{"type", std::string(dtype_name(layer.got.dtype()))},
                                   {"from", layer.graph.nodes[group.front()].name}}}};
    return;
  }
}

}  // namespace

void add_to(JudgeTable& table) { table.add({"wide_storage", 55, judge}); }

}  // namespace driftscope::judges::wide_storage
