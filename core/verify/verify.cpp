#include "core/verify/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/graph/constant_nodes.hpp"
#include "core/platform/platform.hpp"
#include "core/verify/derivation.hpp"
#include "core/verify/engine_models.hpp"
#include "core/verify/known_algorithms.hpp"
#include "core/verify/lane_scale.hpp"
#include "core/verify/long_sums.hpp"
#include "core/verify/metrics.hpp"
#include "core/verify/repeats.hpp"
#include "core/verify/verify_layer.hpp"
#include "core/verify/wide_sums.hpp"

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

Error nothing_compared(const Verification& verification, const TraceView& trace,
                       const RecordedValues& recorded) {
  if (!verification.layers.empty())
    return bad_input(fmt::format("nothing could be compared: {} ({}): {}", verification.layers.front().node,
                                 verification.layers.front().op, verification.layers.front().reason));
  return bad_input(fmt::format(
      "nothing could be compared: none of the trace's {} tensors is the output of a node of this "
      "model ({} of them are not values of the model at all); tensors must be named after ONNX values",
      trace.size(), recorded.unmatched()));
}

int severity(Verdict verdict) { return verdict == Verdict::missing ? -1 : static_cast<int>(verdict); }

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

// A known algorithm may explain a number beyond its budget, or errors larger than those of plain sums;
// it is then named.
void allow_known_algorithm(LayerVerdict& layer, const Graph& graph, NodeId node, std::size_t output,
                           const Derivation& derivation, const Derived& derived, const Tensor& got,
                           const AlgorithmChoice& choice, LongSum found, ThreadPool& threads) {
  if (layer.verdict != Verdict::fault && layer.verdict != Verdict::suspect) return;
  const bool beyond = layer.budget_used_statistical > 1.0 && std::isfinite(layer.budget_used);
  if (found == LongSum::rounded_inputs || (found == LongSum::usual && !beyond)) return;
  const auto match = match_known_algorithm(graph, node, output, derivation, derived, got, choice, threads);
  if (!match) return;
  const std::string size = beyond ? fmt::format("{:.2f} × the budget of the operator", layer.budget_used)
                                  : std::string("larger errors than plain sums");
  layer.reason =
      fmt::format("as by {}: {}, {:.2f} × the algorithm's own", match->name, size, match->use.worst);
  layer.verdict = Verdict::rounding;
  layer.budget_used = match->use.worst;
  layer.budget_used_statistical = match->use.likely;
}

// The whole trace is as bad as its worst layer; missing ones do not count.
void conclude(Verification& verification) {
  for (const LayerVerdict& layer : verification.layers) {
    if (severity(layer.verdict) > severity(verification.verdict)) verification.verdict = layer.verdict;
    if (layer.verdict == Verdict::fault && !verification.first_fault) verification.first_fault = layer.node;
  }
}

/// By node: whether the value is computed from recorded ones by it.
std::vector<bool> nodes_for(const Graph& graph, ValueId value, const RecordedValues& recorded) {
  std::vector<bool> needed(graph.nodes.size());
  std::vector<NodeId> open = {graph.values[value].producer};
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

/// Verifies all layers, or only what is needed for one value's.
Result<Verification> verify_layers(const Graph& graph, const TraceView& trace, ThreadPool& threads,
                                   const VerifyProgress& progress, ValueId only = no_value) {
  const RecordedValues recorded(graph, trace);
  DRIFTSCOPE_CHECK(check_inputs(graph, recorded));
  const ErrorModel model = error_model_of(trace.about());
  const ErrorModelScope scope(model);
  DRIFTSCOPE_TRY(Derivation derivation, Derivation::plan(graph, recorded));

  if (may_quantize_biases(trace.about())) derivation.allow_quantized_biases();
  const AlgorithmChoice choice{algorithms_named_in(trace.about()), may_flush_results(trace.about())};
  if (choice.may_flush) derivation.allow_flushed_results();

  Verification verification;
  const std::vector<bool> constant = constant_nodes(graph);
  std::vector<NodeId> nodes = derivation.nodes();
  if (only != no_value) {
    const std::vector<bool> needed = nodes_for(graph, only, recorded);
    std::erase_if(nodes, [&](NodeId id) { return !needed[id]; });
  }
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
      const BiasWitness witness{[&] { return derivation.plain_float(value, threads); },
                                [&, i] { return derivation.repetition(id, outputs[i]); }};
      const GroupWitness group{
          [&](std::uint64_t seed) { return derivation.plain_float(value, threads, seed); },
          outputs[i].continuous,
          outputs[i].suggestion == no_value ? "" : graph.values[outputs[i].suggestion].name};
      DRIFTSCOPE_TRY(const Tensor got, recorded.load(value));
      LayerVerdict layer = verify_layer(graph, id, i, outputs[i], got, witness, group, threads);
      const LongSum found = judge_long_sums(layer, id, i, derivation, outputs[i], graph, got, threads);
      allow_known_algorithm(layer, graph, id, i, derivation, outputs[i], got, choice, found, threads);
      judge_lane_scale(layer, id, i, derivation, outputs[i], graph, got, threads);
      judge_with_wide_sums(layer, id, i, derivation, graph, got, threads);
      verification.layers.push_back(std::move(layer));
    }
    for (std::size_t i = first_layer; i < verification.layers.size(); ++i)
      verification.layers[i].constant = constant[id];
    derivation.recycle(std::move(outputs));
    if (progress && !progress(done + 1, total))
      return Error{ErrorKind::cancelled, "the verification was stopped"};
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
  DRIFTSCOPE_TRY(const Verification verification, verify_layers(graph, changed, threads, {}, value));
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

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::identical: return "identical";
    case Verdict::rounding: return "rounding";
    case Verdict::unjudged: return "unjudged";
    case Verdict::suspect: return "suspect";
    case Verdict::fault: return "fault";
    default: return "missing";
  }
}

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
                            ThreadPool& threads, const VerifyProgress& progress) {
  return verify(graph, model_sha256, TraceView(trace), threads, progress);
}

Result<Verification> verify(const Graph& graph, const std::string& model_sha256, const TraceView& trace,
                            ThreadPool& threads, const VerifyProgress& progress) {
  DRIFTSCOPE_CHECK(expect_model(model_sha256, trace.about()));
  DRIFTSCOPE_TRY(Verification verification, verify_layers(graph, trace, threads, progress));
  verification.model_sha256 = model_sha256.empty() ? trace.about().model_sha256 : model_sha256;
  verification.target = trace.about().target;
  conclude(verification);
  if (verification.verdict == Verdict::missing)
    return nothing_compared(verification, trace, RecordedValues(graph, trace));
  DRIFTSCOPE_TRY(verification.repeats, verify_repeats(graph, trace, threads));
  if (verification.repeats) judge_later_runs(verification, *verification.repeats);
  return verification;
}

Result<std::optional<RepeatVerification>> verify_repeats(const Graph& graph, const TraceView& trace,
                                                         ThreadPool& threads) {
  return judge_repeats(graph, trace, [&](ValueId value, const Tensor* instead) {
    return judge_value(graph, trace, value, instead, threads);
  });
}

}  // namespace driftscope
