// float16 and bfloat16 layers whose budget is inconclusive: it allows sums in the narrow type, and where
// these have no correct digit left (a thousand terms and more) it allows everything. Such a layer between
// recorded tensors is compared with what runtimes do instead: sums in float32, and a few roundings to the
// narrow type. It becomes rounding where its output is within the budget of such sums, and suspect beyond it.
// Compiled for size on the web (cmake/core.cmake).
#include <cmath>

#include "core/numerics/rounding.hpp"
#include "core/verify/judge.hpp"
#include "core/verify/judgeable.hpp"
#include "core/verify/verify_tensor.hpp"

namespace driftscope::judges::wide_sums {
namespace {

// The same numbers in float32.
Result<Evaluated<Bounded>> widened(Evaluated<Bounded> value, const Tensor& tensor) {
  if (!is_narrow_floating(value.dtype)) return value;
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

Result<std::vector<Bounded>> wide_reference(const LayerCase& layer, const DerivationInputs& inputs) {
  std::vector<Evaluated<Bounded>> values(inputs.lifted.size());
  std::vector<const Evaluated<Bounded>*> pointers(values.size(), nullptr);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (inputs.lifted[i].dtype == DType::undefined) continue;
    DRIFTSCOPE_TRY(values[i], widened(inputs.lifted[i], inputs.tensors[i]));
    pointers[i] = &values[i];
  }
  DRIFTSCOPE_TRY(std::vector<Evaluated<Bounded>> results,
                 evaluate<Bounded>(layer.node(), pointers, layer.threads, {.model = &layer.run.model}));
  return std::move(results[layer.output].real);
}

void judge(const LayerCase& layer, LayerVerdict& verdict) {
  const Tensor& got = layer.got;
  if (verdict.verdict != Verdict::unjudged || layer.in_group() || !is_narrow_floating(got.dtype())) return;
  const DerivationInputs* const inputs = layer.known_inputs();
  if (inputs == nullptr || inputs->reread) return;
  auto reference = wide_reference(layer, *inputs);
  if (!reference.ok() || static_cast<std::int64_t>(reference->size()) != got.elements()) return;
  const ErrorModel model = layer.model();
  round_to(model, *reference);
  if (blindness(*reference, {.ulp = model.ulp}, layer.threads) != Blindness::none) return;
  const TensorUse use = verify_tensor(*reference, got, model, layer.threads).verified;
  // Operators of other domains hold whole tensors inside (queries, weights), which may be narrow, too.
  if (use.use.likely > 1.0 && !layer.node().domain.empty()) return;
  verdict.budget_used = use.use.worst;
  verdict.budget_used_statistical = use.use.likely;
  if (use.worst_element >= 0) verdict.worst = worst_element(*reference, use.worst_element, got);
  verdict.verdict = use.use.likely <= 1.0 ? Verdict::rounding : Verdict::suspect;
  verdict.findings = {{.id = "budget.wide_sums",
                       .numbers = {{"used", use.use.likely}},
                       .words = {{"type", std::string(dtype_name(got.dtype()))}}}};
}

}  // namespace

void add_to(JudgeTable& table) { table.add({"wide_sums", 50, judge}); }

}  // namespace driftscope::judges::wide_sums
