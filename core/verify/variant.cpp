// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/variant.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/eval/evaluate.hpp"
#include "core/eval/operator.hpp"
#include "core/verify/candidate.hpp"
#include "core/verify/judgeable.hpp"
#include "core/verify/tensor_values.hpp"
#include "core/verify/verify.hpp"
#include "core/verify/verify_tensor.hpp"

namespace driftscope {
namespace {

// Implementations of one algorithm differ: other points of interpolation, other orders, fused operations.
constexpr double spread_of_implementations = 4.0;

struct Errors {
  double square = 0.0;
  double largest = 0.0;
  std::size_t count = 0;

  void add(double error) {
    square += error * error;
    largest = std::fmax(largest, std::fabs(error));
    ++count;
  }
  [[nodiscard]] double rms() const {
    return count == 0 ? 0.0 : std::sqrt(square / static_cast<double>(count));
  }
};

// Of each channel (axis 1), and of all together at the end.
std::vector<Errors> errors_of(const Tensor& got, std::span<const Bounded> reference) {
  const Shape& shape = got.shape();
  const std::size_t channels = shape.size() > 1 ? static_cast<std::size_t>(shape[1]) : 1;
  std::size_t plane = 1;
  for (std::size_t i = 2; i < shape.size(); ++i) plane *= static_cast<std::size_t>(shape[i]);
  std::vector<Errors> errors(channels + 1);
  const auto values = got.values<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<double>(values[i]);
    const double want = reference[i].value;
    const bool same = std::isnan(want) ? std::isnan(value) : std::isinf(want) && value == want;
    const double error = same ? 0.0 : std::isfinite(value) ? value - want : HUGE_VAL;
    errors[i / plane % channels].add(error);
    errors.back().add(error);
  }
  return errors;
}

// The layer, and the group before it, with the nodes that it applies to computed by the witness; nothing
// without such a node.
std::optional<Tensor> computed_by(const Variant& variant, const LayerCase& layer) {
  bool applied = false;
  const auto instead = [&](const Node& node, std::span<const Tensor* const> inputs) -> std::optional<Tensor> {
    if (std::ranges::find(variant.operators, operator_text(node)) == variant.operators.end())
      return std::nullopt;
    auto output = variant.witness(node, inputs, layer.threads);
    applied = applied || output.has_value();
    return output;
  };
  auto output = layer.derivation.plain_float(layer.value(), layer.threads, 0, {}, instead);
  return applied ? std::move(output) : std::nullopt;
}

// If the witness is nearly exact in a channel, a quarter of the whole tensor's error is used instead.
std::optional<BudgetUse> use_of_witness(const Variant& variant, const LayerCase& layer) {
  const Tensor& got = layer.got;
  if (layer.output != 0 || got.dtype() != DType::float32 || is_known(layer.derived.reference))
    return std::nullopt;
  const auto witness = computed_by(variant, layer);
  if (!witness || witness->dtype() != DType::float32 || witness->shape() != got.shape()) return std::nullopt;
  const std::vector<Errors> here = errors_of(got, layer.reference());
  const std::vector<Errors> there = errors_of(*witness, layer.reference());
  BudgetUse use;
  for (std::size_t c = 0; c < here.size(); ++c) {
    const double rms = std::fmax(there[c].rms(), there.back().rms() / 4);
    const double largest = std::fmax(there[c].largest, there.back().largest / 4);
    if (!std::isfinite(rms) || !(rms > 0.0)) return std::nullopt;
    use.likely = std::fmax(use.likely, here[c].rms() / (spread_of_implementations * rms));
    use.worst = std::fmax(use.worst, here[c].largest / (spread_of_implementations * largest));
  }
  use.likely = std::fmax(use.likely, use.worst);
  return use;
}

// The values between that were not recorded are computed once more in the candidate's error model. A bound
// that tells nothing explains nothing.
std::optional<BudgetUse> use_of_group(const Candidate& candidate, const LayerCase& layer) {
  if (!candidate.inputs.empty() || candidate.rearranges()) return std::nullopt;
  const auto result = group_result_of(candidate, layer);
  if (!result) return std::nullopt;
  const ErrorModel& changed = candidate.model ? *candidate.model : layer.run.model;
  const ErrorModel model = error_model_for(changed, layer.got.dtype());
  if (blindness(result->real, {.ulp = model.ulp, .group = true}, layer.threads) != Blindness::none)
    return std::nullopt;
  const TensorVerification verified = verify_tensor(result->real, layer.got, model, layer.threads);
  if (verified.verified.specials > 0) return std::nullopt;
  return verified.verified.use;
}

bool holds_subnormals(const Tensor& got) {
  bool any = false;
  with_float_values(got, [&](const auto& got_at) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(got.elements()) && !any; ++i) {
      const double size = std::fabs(got_at(i));
      any = size > 0.0 && size < static_cast<double>(std::numeric_limits<float>::min());
    }
  });
  return any;
}

}  // namespace

bool concerns(const Variant& variant, const LayerCase& layer) {
  if (variant.any_operator) return true;
  const auto is_one = [&](NodeId id) {
    const Node& node = layer.graph.nodes[id];
    return std::ranges::find(variant.operators, operator_text(node)) != variant.operators.end();
  };
  return is_one(layer.id) || std::ranges::any_of(layer.derived.group, is_one);
}

std::optional<VariantMatch> explains(const Variant& variant, const LayerCase& layer) {
  if (!concerns(variant, layer) || !is_floating(layer.got.dtype())) return std::nullopt;
  if (variant.flushes_results && holds_subnormals(layer.got)) return std::nullopt;
  const auto fits = [](const std::optional<BudgetUse>& use) {
    return use && use->worst <= 1.0 && use->likely <= 1.0;
  };
  if (variant.witness != nullptr) {
    const auto use = use_of_witness(variant, layer);
    return fits(use) ? std::optional(VariantMatch{*use, {}}) : std::nullopt;
  }
  if (layer.in_group()) {
    for (Candidate& candidate : variant.candidates(layer)) {
      if (candidate.node.has_value() != variant.fuses) continue;  // other attributes of one node
      if (const auto use = use_of_group(candidate, layer); fits(use))
        return VariantMatch{*use, std::move(candidate.parameters)};
    }
    return std::nullopt;
  }
  const DerivationInputs* const inputs = layer.known_inputs();
  if (inputs == nullptr || variant.fuses) return std::nullopt;
  for (Candidate& candidate : variant.candidates(layer)) {
    const auto computed = bounds_of(candidate, layer, *inputs);
    if (!computed) continue;
    const auto use = use_of(*computed, candidate, layer);
    if (!fits(use)) continue;
    return VariantMatch{*use, std::move(candidate.parameters), std::move(candidate.detail)};
  }
  return std::nullopt;
}

std::optional<bool> explains(const std::function<void(Graph&)>& change, const Graph& graph,
                             const Trace& trace, const std::string& value, ThreadPool& threads) {
  Graph changed = graph;
  change(changed);
  const auto verified = verify(changed, "", trace, threads);
  if (!verified.ok()) return std::nullopt;
  for (const LayerVerdict& layer : verified->layers)
    if (layer.output == value && concern_of(layer.verdict) != Concern::open &&
        layer.verdict != Verdict::missing)
      return layer.verdict != Verdict::fault;
  return std::nullopt;
}

Finding finding_of(const Variant& variant, const VariantMatch& match, double before) {
  Finding finding;
  finding.id = std::string(variant.family) + "." + std::string(variant.id);
  finding.words = {{"variant", std::string(variant.name)}};
  if (!match.detail.empty()) finding.words.emplace_back("detail", match.detail);
  finding.numbers = {{"budget_before", before}, {"budget_after", match.use.worst}};
  if (match.chance) finding.numbers.emplace_back("chance", *match.chance);
  finding.numbers.insert(finding.numbers.end(), match.parameters.begin(), match.parameters.end());
  return finding;
}

std::function<std::vector<Candidate>(const LayerCase&)> with_model(void (*change)(ErrorModel&)) {
  return [change](const LayerCase& layer) {
    Candidate candidate{.model = layer.run.model};
    change(*candidate.model);
    return std::vector{std::move(candidate)};
  };
}

std::function<std::vector<Candidate>(const LayerCase&)> with_node(
    std::optional<Node> (*change)(const Node&)) {
  return [change](const LayerCase& layer) {
    std::vector<Candidate> candidates;
    if (auto node = change(layer.node())) candidates.push_back({.node = std::move(node)});
    return candidates;
  };
}

}  // namespace driftscope
