// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_set>

#include "core/graph/constant_nodes.hpp"
#include "core/graph/unfold.hpp"
#include "core/platform/platform.hpp"
#include "core/verify/answer_sensitivity.hpp"
#include "core/verify/derivation.hpp"
#include "core/verify/engine_models.hpp"
#include "core/verify/judge.hpp"
#include "core/verify/metrics.hpp"
#include "core/verify/nonfinite.hpp"
#include "core/verify/overflow.hpp"
#include "core/verify/repeats.hpp"
#include "core/verify/unread_values.hpp"

namespace driftscope {
namespace {

// A recorded input that the model does not take would make every verdict meaningless.
Status check_inputs(const Graph& graph, const RecordedValues& recorded) {
  for (const ValueId id : graph.inputs) {
    const SafetensorsEntry* tensor = recorded[id];
    if (tensor == nullptr) continue;
    const Value& value = graph.values[id];
    if (value.dtype != DType::undefined && tensor->dtype != value.dtype)
      return bad_input(fmt::format("input {} of the graph: expected {}, the trace has {}", value.name,
                                   dtype_name(value.dtype), dtype_name(tensor->dtype)));
    if (!value.shape) continue;
    bool fits = value.shape->size() == tensor->shape.size();
    for (std::size_t i = 0; fits && i < value.shape->size(); ++i)
      fits = !(*value.shape)[i].known() || (*value.shape)[i].size == tensor->shape[i];
    if (!fits)
      return bad_input(fmt::format("input {} of the graph: expected shape {}, the trace has {}", value.name,
                                   shape_text(*value.shape), shape_text(tensor->shape)));
  }
  return {};
}

Error nothing_compared(const TraceView& trace, const RecordedValues& recorded) {
  return bad_input(fmt::format(
      "nothing could be compared: none of the trace's {} tensors is the output of a node of this "
      "model ({} of them are not values of the model at all); tensors must be named after ONNX values",
      trace.size(), recorded.unmatched()));
}

// Nodes that move or choose elements are usually correct, which the strict kernels show without any
// bound. Returns whether the node is fully judged by this.
Result<bool> append_identical(Verification& verification, const Graph& graph, NodeId id,
                              const Derivation& derivation, const RecordedValues& recorded,
                              ThreadPool& threads) {
  const auto selection = derivation.selection(id, threads);
  if (!selection) return false;
  const Node& node = graph.nodes[id];
  std::vector<LayerVerdict> layers;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId value = node.outputs[i];
    if (value == no_value) continue;
    DRIFTSCOPE_TRY(const Tensor got, recorded.load(value));
    const Tensor& want = (*selection)[i];
    if (got.dtype() != want.dtype() || got.shape() != want.shape()) return false;
    const auto metrics = measure(got, want, &threads);
    if (!metrics.ok() || metrics->different_elements > 0) return false;
    LayerVerdict layer;
    layer.node = node.name;
    layer.op = node.op_type;
    layer.output = graph.values[value].name;
    layer.shape = got.shape();
    layer.metrics = *metrics;
    layer.verdict = Verdict::identical;
    layers.push_back(std::move(layer));
  }
  for (LayerVerdict& layer : layers) verification.layers.push_back(std::move(layer));
  return true;
}

// The whole trace is as bad as its worst layer; missing ones do not count.
void conclude(Verification& verification) {
  for (const LayerVerdict& layer : verification.layers) {
    verification.verdict = worse_of(verification.verdict, layer.verdict);
    if (layer.verdict == Verdict::fault && !verification.first_fault) verification.first_fault = layer.node;
  }
}

/// The model as the run went through its subgraphs; nothing where it has none that were recorded.
std::optional<Graph> unfolded_for(const Graph& graph, const TraceView& trace) {
  if (trace.about().control_flow.empty()) return std::nullopt;
  std::unordered_set<std::string_view> names;
  for (std::size_t i = 0; i < trace.size(); ++i) names.insert(trace[i].name);
  return unfold(graph, trace.about().control_flow,
                [&](std::string_view name) { return names.contains(name); });
}

/// By node: whether one of the values is computed from recorded ones by it.
std::vector<bool> nodes_for(const Graph& graph, std::span<const ValueId> values,
                            const RecordedValues& recorded) {
  std::vector<bool> needed(graph.nodes.size());
  std::vector<NodeId> open;
  for (const ValueId value : values) open.push_back(graph.values[value].producer);
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (id == no_node || needed[id]) continue;
    needed[id] = true;
    for (const ValueId input : graph.nodes[id].reads())
      if (input != no_value && !graph.values[input].constant && recorded[input] == nullptr)
        open.push_back(graph.values[input].producer);
  }
  return needed;
}

/// The recorded values next to a node: what it reads, makes, and what is made of that. A layer may be excused
/// by those before and after it.
std::vector<ValueId> values_beside(const Graph& graph, const Node& node, const RecordedValues& recorded) {
  std::vector<ValueId> values;
  for (const ValueId id : node.reads())
    if (id != no_value && recorded[id] != nullptr && graph.values[id].producer != no_node)
      values.push_back(id);
  std::vector<bool> seen(graph.values.size());
  std::vector<ValueId> open(node.outputs.begin(), node.outputs.end());
  for (const ValueId id : node.outputs)
    if (id != no_value && recorded[id] != nullptr) values.push_back(id);
  while (!open.empty()) {
    const ValueId id = open.back();
    open.pop_back();
    if (id == no_value || seen[id]) continue;
    seen[id] = true;
    for (const Node& reader : graph.nodes) {
      const std::vector<ValueId> reads = reader.reads();
      if (std::ranges::find(reads, id) == reads.end()) continue;
      for (const ValueId made : reader.outputs) {
        if (made == no_value) continue;
        if (recorded[made] == nullptr)
          open.push_back(made);
        else
          values.push_back(made);
      }
    }
  }
  return values;
}

/// Verifies all layers, or only what is needed for those of some values.
Result<Verification> verify_layers(const Graph& graph, const TraceView& trace, ThreadPool& threads,
                                   const VerifyProgress& progress, std::span<const ValueId> only = {},
                                   const AnswerSensitivity* sensitivity = nullptr) {
  const RecordedValues recorded(graph, trace);
  DRIFTSCOPE_CHECK(check_inputs(graph, recorded));
  const RunFacts run = run_facts_of(trace.about());
  DRIFTSCOPE_TRY(Derivation derivation, Derivation::plan(graph, recorded, run.model));
  if (run.may_quantize_biases) derivation.allow_quantized_biases();
  if (run.may_flush_results) derivation.allow_flushed_results();

  Verification verification;
  const std::vector<bool> constant = constant_nodes(graph);
  std::vector<NodeId> nodes = derivation.nodes();
  if (!only.empty()) {
    const std::vector<bool> needed = nodes_for(graph, only, recorded);
    std::erase_if(nodes, [&](NodeId id) { return !needed[id]; });
  }
  std::vector<JudgedLayer> judged_layers;
  FaultyReferences faulty;
  const auto total = static_cast<std::int64_t>(nodes.size());
  for (std::int64_t done = 0; done < total; ++done) {
    const NodeId id = nodes[static_cast<std::size_t>(done)];
    const Node& node = graph.nodes[id];
    const std::size_t first_layer = verification.layers.size();
    DRIFTSCOPE_TRY(const bool verified,
                   append_identical(verification, graph, id, derivation, recorded, threads));
    std::vector<Derived> outputs = verified ? std::vector<Derived>() : derivation.derive(id, threads);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const ValueId value = node.outputs[i];
      if (value == no_value || recorded[value] == nullptr) continue;
      DRIFTSCOPE_TRY(const Tensor got, recorded.load(value));
      const LayerCase layer{graph, id, i, derivation, outputs[i], got, run, threads};
      verification.layers.push_back(judged(layer));
      if (sensitivity != nullptr && outputs[i].reason.empty())
        verification.layers.back().moved =
            sensitivity->moved(graph.values[value].name, layer.reference(), got);
      judged_layers.resize(verification.layers.size());
      judged_layers.back() = {id, i, outputs[i].group};
      if (verification.layers.back().verdict == Verdict::fault)
        faulty.add(value, std::move(outputs[i].reference));
    }
    judged_layers.resize(verification.layers.size());
    for (std::size_t i = 0, at = first_layer; verified && i < node.outputs.size(); ++i)
      if (node.outputs[i] != no_value) judged_layers[at++] = {id, i, {}};
    for (std::size_t i = first_layer; i < verification.layers.size(); ++i) {
      LayerVerdict& layer = verification.layers[i];
      layer.constant = constant[id];
      if (sensitivity != nullptr && verified) layer.moved = sensitivity->not_moved(layer.output);
    }
    derivation.recycle(std::move(outputs));
    if (progress && !progress(done + 1, total))
      return Error{ErrorKind::cancelled, "the verification was stopped"};
  }
  if (!faulty.empty())
    excuse_unread_values(graph, recorded, derivation, judged_layers, faulty, verification.layers, threads);
  for (LayerVerdict& layer : verification.layers) {
    if (!is_bad(layer.verdict)) layer.explanation.reset();
    if (layer.explanation) layer.explanation->verdict = layer.verdict;
  }
  return verification;
}

/// The verdict of one layer, with another tensor in place of the recorded one where there is one.
Result<Verdict> judge_value(const Graph& graph, const TraceView& trace, ValueId value, const Tensor* instead,
                            ThreadPool& threads) {
  const std::string& name = graph.values[value].name;
  TraceView changed = trace;
  for (std::size_t i = 0; instead != nullptr && i < changed.size(); ++i)
    if (changed[i].name == name) changed.replace(i, *instead);
  DRIFTSCOPE_TRY(const Verification verification, verify_layers(graph, changed, threads, {}, {&value, 1}));
  for (const LayerVerdict& layer : verification.layers)
    if (layer.output == name) return layer.verdict;
  return Verdict::missing;
}

void judge_later_runs(Verification& verification, const RepeatVerification& repeats) {
  const Verdict worst = worst_later_verdict(repeats);
  if (severity(worst) <= severity(verification.verdict)) return;
  verification.verdict = worst;
  if (worst != Verdict::fault) return;
  for (const JudgedDifference& one : repeats.different)
    if (one.later == worst && !verification.first_fault) verification.first_fault = one.difference.node;
}

}  // namespace

std::int64_t count_layers(const Verification& verification, Verdict verdict) {
  return std::ranges::count(verification.layers, verdict, &LayerVerdict::verdict);
}

Status expect_model(const std::string& model_sha256, const Trace& trace) {
  if (model_sha256.empty() || trace.model_sha256.empty() || model_sha256 == trace.model_sha256) return {};
  return bad_input(fmt::format(
      "the trace was made from another model: expected sha256 {}, got {}; name the model that it was made "
      "from, or, if both compute the same, take model_sha256 out of the trace's metadata: values are then "
      "matched by name, and by position and shape where names differ",
      model_sha256, trace.model_sha256));
}

Result<Verification> verify(const Graph& graph, const std::string& model_sha256, const Trace& trace,
                            ThreadPool& threads, const VerifyProgress& progress,
                            const AnswerSensitivity* sensitivity) {
  return verify(graph, model_sha256, TraceView(trace), threads, progress, sensitivity);
}

Result<Verification> verify(const Graph& model, const std::string& model_sha256, const TraceView& trace,
                            ThreadPool& threads, const VerifyProgress& progress,
                            const AnswerSensitivity* sensitivity) {
  DRIFTSCOPE_CHECK(expect_model(model_sha256, trace.about()));
  const std::optional<Graph> unfolded = unfolded_for(model, trace);
  const Graph& graph = unfolded ? *unfolded : model;
  DRIFTSCOPE_TRY(Verification verification, verify_layers(graph, trace, threads, progress, {}, sensitivity));
  verification.model_sha256 = model_sha256.empty() ? trace.about().model_sha256 : model_sha256;
  verification.target = trace.about().target;
  conclude(verification);
  if (verification.layers.empty()) return nothing_compared(trace, RecordedValues(graph, trace));
  const RecordedValues recorded(graph, trace);
  verification.nonfinite = nonfinite_outputs(graph, recorded, verification.layers);
  verification.overflows = layer_overflows(graph, recorded, verification.layers);
  DRIFTSCOPE_TRY(verification.repeats, verify_repeats(model, trace, threads));
  if (verification.repeats) judge_later_runs(verification, *verification.repeats);
  return verification;
}

Result<Verification> verify_node(const Graph& model, const TraceView& trace, const std::string& name,
                                 ThreadPool& threads, const VerifyProgress& progress) {
  const std::optional<Graph> unfolded = unfolded_for(model, trace);
  const Graph& graph = unfolded ? *unfolded : model;
  const auto node = std::ranges::find(graph.nodes, name, &Node::name);
  if (node == graph.nodes.end())
    return bad_input(
        fmt::format("the model has no node '{}'; 'driftscope run MODEL' prints their names", name));
  const RecordedValues recorded(graph, trace);
  Verification one;
  one.target = trace.about().target;
  const bool any = std::ranges::any_of(node->outputs,
                                       [&](ValueId id) { return id != no_value && recorded[id] != nullptr; });
  if (!any) return bad_input(fmt::format("node '{}': the trace holds none of its outputs", name));
  const std::vector<ValueId> values = values_beside(graph, *node, recorded);
  DRIFTSCOPE_TRY(Verification verification, verify_layers(graph, trace, threads, progress, values));
  for (LayerVerdict& layer : verification.layers)
    if (layer.node == name) one.layers.push_back(std::move(layer));
  conclude(one);
  return one;
}

Result<std::optional<RepeatVerification>> verify_repeats(const Graph& model, const TraceView& trace,
                                                         ThreadPool& threads) {
  const std::optional<Graph> unfolded = unfolded_for(model, trace);
  const Graph& graph = unfolded ? *unfolded : model;
  return judge_repeats(graph, trace, [&](ValueId value, const Tensor* instead) {
    return judge_value(graph, trace, value, instead, threads);
  });
}

}  // namespace driftscope
