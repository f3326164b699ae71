#include "core/verify/known_algorithms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/json.hpp"
#include "core/eval/evaluate.hpp"
#include "core/verify/known_algorithm.hpp"
#include "core/verify/tensor_values.hpp"
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
    const double error = static_cast<double>(values[i]) - reference[i].value;
    errors[i / plane % channels].add(error);
    errors.back().add(error);
  }
  return errors;
}

// If the witness is nearly exact in a channel, a quarter of the whole tensor's error is used instead.
std::optional<BudgetUse> use_of_witness(const Tensor& got, const Tensor& witness,
                                        std::span<const Bounded> reference) {
  if (witness.dtype() != DType::float32 || witness.shape() != got.shape()) return std::nullopt;
  const std::vector<Errors> here = errors_of(got, reference);
  const std::vector<Errors> there = errors_of(witness, reference);
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

// Uses bounds from a changed error model, or from another reading of the node.
std::optional<BudgetUse> use_of_bounds(const KnownAlgorithm& algorithm, const Graph& graph, NodeId id,
                                       std::size_t output, const DerivationInputs& inputs,
                                       const Derivation& derivation, const Tensor& got, ThreadPool& threads) {
  const Node& node = graph.nodes[id];
  ErrorModel model = current_error_model();
  if (algorithm.relax != nullptr) algorithm.relax(model);
  std::optional<Node> other;
  if (algorithm.reading != nullptr) {
    other = algorithm.reading(node);
    if (!other) return std::nullopt;
  }
  const ErrorModelScope scope(model);
  std::vector<const Evaluated<Bounded>*> pointers;
  for (const Evaluated<Bounded>& input : inputs.lifted)
    pointers.push_back(input.dtype == DType::undefined ? nullptr : &input);
  Evaluated<Bounded> other_bias;
  if (algorithm.bias != nullptr) {
    const auto bias = algorithm.bias(graph, id, derivation);
    if (!bias) return std::nullopt;
    other_bias = known<Bounded>(*bias);
    pointers[2] = &other_bias;
  }
  const auto results = evaluate<Bounded>(other ? *other : node, pointers, threads,
                                         {.recorded = inputs.reread ? &*inputs.reread : nullptr});
  if (!results.ok() || is_known((*results)[output])) return std::nullopt;
  const TensorVerification result =
      verify_tensor((*results)[output].real, got, error_model_for(model, got.dtype()), threads);
  if (result.verified.specials > 0) return std::nullopt;
  return result.verified.use;
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

bool is_tried(const KnownAlgorithm& algorithm, const Node& node, const AlgorithmChoice& choice,
              const Tensor& got) {
  const bool is_named = std::ranges::find(choice.named, algorithm.id) != choice.named.end();
  if (!choice.named.empty() && !is_named) return false;
  if (algorithm.flushes_results && ((!choice.may_flush && !is_named) || holds_subnormals(got))) return false;
  return std::ranges::find(algorithm.operators, node.op_type) != algorithm.operators.end();
}

}  // namespace

std::optional<AlgorithmMatch> match_known_algorithm(const Graph& graph, NodeId id, std::size_t output,
                                                    const Derivation& derivation, const Derived& derived,
                                                    const Tensor& got, const AlgorithmChoice& choice,
                                                    ThreadPool& threads) {
  const Node& node = graph.nodes[id];
  if (!derived.group.empty() || !is_floating(got.dtype()) || !node.domain.empty()) return std::nullopt;
  std::optional<DerivationInputs> inputs;
  for (const KnownAlgorithm& algorithm : known_algorithm_table().all()) {
    if (!is_tried(algorithm, node, choice, got)) continue;
    if (!inputs) inputs = derivation.known_inputs(id);
    if (!inputs) return std::nullopt;
    std::optional<BudgetUse> use;
    if (algorithm.witness == nullptr) {
      use = use_of_bounds(algorithm, graph, id, output, *inputs, derivation, got, threads);
    } else if (output == 0 && got.dtype() == DType::float32 && !is_known(derived.reference)) {
      std::vector<const Tensor*> tensors;
      for (const Tensor& tensor : inputs->tensors)
        tensors.push_back(tensor.dtype() == DType::undefined ? nullptr : &tensor);
      if (const auto witness = algorithm.witness(node, tensors, threads))
        use = use_of_witness(got, *witness, derived.reference.real);
    }
    if (use && use->worst <= 1.0 && use->likely <= 1.0)
      return AlgorithmMatch{std::string(algorithm.name), *use};
  }
  return std::nullopt;
}

std::vector<std::string> algorithms_named_in(const Trace& trace) {
  std::vector<std::string> named;
  const auto run = parse_json(trace.run);
  if (!run.is_object()) return named;
  const auto found = run.find("algorithms");
  if (found == run.end()) return named;
  if (found->is_string()) named.push_back(found->get<std::string>());
  if (found->is_array())
    for (const auto& one : *found)
      if (one.is_string()) named.push_back(one.get<std::string>());
  return named;
}

}  // namespace driftscope
