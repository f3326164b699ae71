#include "core/verify/wide_sums.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/numerics/rounding.hpp"
#include "core/verify/judgeable.hpp"
#include "core/verify/verify_tensor.hpp"

namespace driftscope {
namespace {

bool is_narrow(DType dtype) { return dtype == DType::float16 || dtype == DType::bfloat16; }

// The same numbers in float32.
Result<Evaluated<Bounded>> widened(Evaluated<Bounded> value, const Tensor& tensor) {
  if (!is_narrow(value.dtype)) return value;
  if (value.real.empty()) {
    DRIFTSCOPE_TRY(value, lift<Bounded>(tensor));
  }
  value.dtype = DType::float32;
  value.tensor = Tensor();
  return value;
}

// After the sums a normalization works element by element, possibly in the narrow type: cast, scale,
// shift and store. These are results and numbers about as large as the largest result.
void round_to(const ErrorModel& model, std::vector<Bounded>& values) {
  constexpr double roundings = 4.0;
  double largest = 0.0;
  for (const Bounded& x : values)
    if (std::isfinite(x.value)) largest = std::fmax(largest, std::fabs(x.value));
  const double allowed = roundings * rounding_error(model, std::fmin(largest, model.largest));
  for (Bounded& x : values) {
    x.worst += allowed;
    x.likely += allowed;
    x.systematic += allowed;
  }
}

Result<std::vector<Bounded>> wide_reference(const Node& node, std::size_t output,
                                            const DerivationInputs& inputs, ThreadPool& threads) {
  std::vector<Evaluated<Bounded>> values(inputs.lifted.size());
  std::vector<const Evaluated<Bounded>*> pointers(values.size(), nullptr);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (inputs.lifted[i].dtype == DType::undefined) continue;
    DRIFTSCOPE_TRY(values[i], widened(inputs.lifted[i], inputs.tensors[i]));
    pointers[i] = &values[i];
  }
  DRIFTSCOPE_TRY(std::vector<Evaluated<Bounded>> results, evaluate<Bounded>(node, pointers, threads));
  return std::move(results[output].real);
}

}  // namespace

void judge_with_wide_sums(LayerVerdict& layer, NodeId node, std::size_t output, const Derivation& derivation,
                          const Graph& graph, const Tensor& got, ThreadPool& threads) {
  if (layer.verdict != Verdict::unjudged || !layer.group.empty() || !is_narrow(got.dtype())) return;
  const auto inputs = derivation.known_inputs(node);
  if (!inputs || inputs->reread) return;
  auto reference = wide_reference(graph.nodes[node], output, *inputs, threads);
  if (!reference.ok() || static_cast<std::int64_t>(reference->size()) != got.elements()) return;
  const ErrorModel model = error_model_for(current_error_model(), got.dtype());
  round_to(model, *reference);
  if (blindness(*reference, {.ulp = model.ulp}, threads) != Blindness::none) return;
  const TensorUse use = verify_tensor(*reference, got, model, threads).verified;
  layer.budget_used = use.use.worst;
  layer.budget_used_statistical = use.use.likely;
  if (use.worst_element >= 0) layer.worst = worst_element(*reference, use.worst_element, got);
  layer.verdict = use.use.likely <= 1.0 ? Verdict::rounding : Verdict::suspect;
  layer.reason = fmt::format(
      "{}; sums in {} have no correct digit here",
      layer.verdict == Verdict::rounding ? "within sums in float32" : "beyond what sums in float32 explain",
      dtype_name(got.dtype()));
}

}  // namespace driftscope
