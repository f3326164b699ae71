// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/unread_values.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/model/tensor_elements.hpp"
#include "core/verify/judgeable.hpp"
#include "core/verify/metrics.hpp"
#include "core/verify/verify_tensor.hpp"

namespace driftscope {
namespace {

/// What the layer's output is beside a reference.
struct ReaderFit {
  Metrics metrics;
  double used = 0.0;
  double used_statistical = 0.0;
};

class Readers {
 public:
  Readers(const Graph& graph, const RecordedValues& recorded, const Derivation& derivation,
          const std::vector<JudgedLayer>& judged, ThreadPool& threads)
      : graph_(graph), recorded_(recorded), derivation_(derivation), judged_(judged), threads_(threads) {}

  /// Places of the layers that were computed from the value, directly or within their group.
  [[nodiscard]] std::vector<std::size_t> of(ValueId value) const {
    const auto reads = [&](NodeId id) {
      const auto inputs = graph_.nodes[id].reads();
      return std::ranges::find(inputs, value) != inputs.end();
    };
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < judged_.size(); ++i)
      if (judged_[i].node != no_node &&
          (reads(judged_[i].node) || std::ranges::any_of(judged_[i].group, reads)))
        places.push_back(i);
    return places;
  }

  /// Of a layer that was judged, derived again.
  [[nodiscard]] std::optional<Evaluated<Bounded>> reference(ValueId value) const {
    for (const JudgedLayer& one : judged_)
      if (one.node != no_node && graph_.nodes[one.node].outputs[one.output] == value)
        return derivation_.derive_again(one.group, one.node, one.output, derivation_.model(), {}, threads_);
    return std::nullopt;
  }

  /// Whether the layer is what its node computes with the values that are given in place of recorded ones.
  [[nodiscard]] std::optional<ReaderFit> fit(
      std::size_t layer, const std::map<ValueId, const Evaluated<Bounded>*>& instead) const {
    const JudgedLayer& one = judged_[layer];
    const auto want =
        derivation_.derive_again(one.group, one.node, one.output, derivation_.model(), instead, threads_);
    const auto got = recorded_.load(graph_.nodes[one.node].outputs[one.output]);
    if (!want || !got.ok() || got->dtype() != want->dtype || got->shape() != want->shape) return std::nullopt;
    ReaderFit fit;
    if (is_floating(got->dtype())) {
      const std::vector<Bounded> exact =
          is_known(*want) ? lift_values<Bounded>(want->tensor) : std::vector<Bounded>();
      const std::span<const Bounded> reference = is_known(*want) ? exact : want->real;
      const ErrorModel model = error_model_for(derivation_.model(), got->dtype());
      const TensorVerification verified = verify_tensor(reference, *got, model, threads_);
      if (verified.verified.specials > 0 || verified.verified.use.worst > 1.0 ||
          verified.verified.use.likely > 1.0)
        return std::nullopt;
      // A bound that tells nothing shows nothing.
      if (blindness(reference, {.ulp = model.ulp, .group = !one.group.empty()}, threads_) != Blindness::none)
        return std::nullopt;
      fit = {verified.metrics, verified.verified.use.worst, verified.verified.use.likely};
    } else {
      const auto metrics = measure(*got, want->tensor, &threads_);
      if (!metrics.ok() || metrics->different_elements > 0) return std::nullopt;
      fit.metrics = *metrics;
    }
    return fit;
  }

 private:
  const Graph& graph_;
  const RecordedValues& recorded_;
  const Derivation& derivation_;
  const std::vector<JudgedLayer>& judged_;
  ThreadPool& threads_;
};

void excuse(LayerVerdict& layer, const ReaderFit& fit, const std::string& value) {
  layer.verdict = fit.metrics.different_elements == 0 ? Verdict::identical : Verdict::rounding;
  layer.metrics = fit.metrics;
  layer.budget_used = fit.used;
  layer.budget_used_statistical = fit.used_statistical;
  layer.mean_signed_z = 0.0;
  layer.worst.reset();
  layer.findings = {{.id = "inputs.unread", .words = {{"value", value}}}};
}

}  // namespace

void FaultyReferences::add(ValueId value, Evaluated<Bounded> reference) {
  const std::size_t bytes = reference.real.size() * sizeof(Bounded) + reference.tensor.byte_size();
  std::optional<Evaluated<Bounded>>& kept = all_[value];
  if (bytes > left_) return;
  left_ -= bytes;
  kept = std::move(reference);
}

void excuse_unread_values(const Graph& graph, const RecordedValues& recorded, const Derivation& derivation,
                          const std::vector<JudgedLayer>& judged, const FaultyReferences& faulty,
                          std::vector<LayerVerdict>& layers, ThreadPool& threads) {
  const Readers readers(graph, recorded, derivation, judged, threads);
  for (const auto& [value, kept] : faulty.all()) {
    bool all_right = true;
    std::string excused;
    const std::vector<std::size_t> places = readers.of(value);
    if (std::ranges::none_of(places, [&](std::size_t place) { return is_bad(layers[place].verdict); }))
      continue;  // nobody is charged
    const auto again = kept ? std::nullopt : readers.reference(value);
    const Evaluated<Bounded>* const reference = kept ? &*kept : again ? &*again : nullptr;
    if (reference == nullptr) continue;
    for (const std::size_t place : places) {
      LayerVerdict& reader = layers[place];
      const bool bad = is_bad(reader.verdict);
      const auto fit = readers.fit(place, {{value, reference}});
      if (!fit) all_right = false;
      if (!fit || !bad) continue;
      excuse(reader, *fit, graph.values[value].name);
      excused = reader.node;
    }
    if (excused.empty() || !all_right) continue;
    for (LayerVerdict& layer : layers)
      if (layer.output == graph.values[value].name) {
        // Runtimes fold constants: the node need not have run. Any other node has made what was recorded.
        if (layer.constant) layer.verdict = Verdict::unjudged;
        if (layer.constant) layer.findings.clear();
        layer.findings.push_back({.id = "values.unread", .words = {{"reader", excused}}});
      }
  }
}

}  // namespace driftscope
