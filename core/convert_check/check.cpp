#include "core/convert_check/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "core/verify/metrics.hpp"

namespace driftscope::convert {
namespace {

constexpr std::size_t max_explained = 50;
constexpr double rewritten_ulp = 4.0;

Metrics drift_of(const Tensor& a, const ValuePair& pair, const Tensor& b, ThreadPool& threads,
                 std::string& reason) {
  const auto failed = [&](const Error& error) {
    reason = error.message;
    return Metrics();
  };
  const auto moved = restored(b, pair.order, a.shape());
  if (!moved.ok()) return failed(moved.error());
  const auto same = as_dtype(*moved, a.dtype());
  if (!same.ok()) return failed(same.error());
  const auto metrics = measure(*same, a, &threads);
  return metrics.ok() ? *metrics : failed(metrics.error());
}

/// The values of one side under the names, in the layout and the types of the other.
Trace in_the_place_of(const Side& judge, const Side& judged, const Alignment& alignment, bool a_judges) {
  Trace made;
  for (const ValuePair& pair : alignment.pairs) {
    const RecordedValue* const mine = judge.find(a_judges ? pair.a : pair.b);
    const RecordedValue* const theirs = judged.find(a_judges ? pair.b : pair.a);
    if (mine == nullptr || theirs == nullptr) continue;
    // restored() undoes an order of A → B; of B → A it is the order itself.
    auto moved = a_judges ? restored(*theirs->tensor, pair.order, mine->tensor->shape())
                          : restored(*theirs->tensor, inverse(pair.order), mine->tensor->shape());
    if (!moved.ok()) continue;
    auto same = as_dtype(*moved, mine->tensor->dtype());
    if (same.ok()) made.tensors.push_back({mine->name, *std::move(same)});
  }
  return made;
}

Status check_inputs(const Side& judge, const Trace& trace) {
  for (const ValueId id : judge.graph()->inputs)
    if (trace.find(judge.graph()->value_name(id)) == nullptr)
      return bad_input(
          fmt::format("input {} has no partner in the other model, so nothing after it can be judged; name "
                      "it in a map (--map)",
                      judge.graph()->value_name(id)));
  return {};
}

CheckedLayer layer_of(const Side& a, const Side& b, const ValuePair& pair, ThreadPool& threads) {
  CheckedLayer layer;
  layer.values = pair;
  const RecordedValue& mine = *a.find(pair.a);
  const RecordedValue& theirs = *b.find(pair.b);
  layer.node = mine.node;
  layer.op = mine.op;
  layer.node_b = theirs.node;
  layer.op_b = theirs.op;
  layer.shape = mine.tensor->shape();
  layer.output = mine.output || theirs.output;
  layer.drift = drift_of(*mine.tensor, pair, *theirs.tensor, threads, layer.reason);
  return layer;
}

/// A quotient as a product with the reciprocal and the like: nothing but other operators, and a result that a
/// few roundings explain.
bool is_rewritten(const std::vector<Explanation>& found, const LayerVerdict& judged) {
  const auto has = [&](Cause cause) {
    return std::ranges::any_of(found, [&](const Explanation& one) { return one.cause == cause; });
  };
  return has(Cause::operator_missing) && has(Cause::operator_added) &&
         std::ranges::all_of(found,
                             [](const Explanation& one) {
                               return one.cause == Cause::operator_missing ||
                                      one.cause == Cause::operator_added;
                             }) &&
         judged.metrics.max_ulp <= rewritten_ulp;
}

/// The worst verdict, and the first layer that diverges.
void conclude(Check& check) {
  check.verdict = Verdict::missing;
  check.first_parting.reset();
  for (std::size_t i = 0; i < check.layers.size(); ++i) {
    if (!check.layers[i].judged) continue;
    const Verdict verdict = check.layers[i].judged->verdict;
    check.verdict = worse_of(check.verdict, verdict);
    if (verdict == Verdict::fault && !check.first_parting) check.first_parting = i;
  }
}

void add_explanations(Check& check, const Side& a, const Side& b, ThreadPool& threads) {
  for (std::size_t i = 0; i < check.layers.size() && check.explanations.size() < max_explained; ++i) {
    CheckedLayer& layer = check.layers[i];
    if (!layer.judged) continue;
    const PartingLayer parting{a, b, check.alignment, layer.values};
    const bool both = a.graph() != nullptr && b.graph() != nullptr;
    if (layer.judged->verdict != Verdict::fault) {
      if (both)
        for (Explanation& change : hidden_changes(parting)) {
          change.layer = i;
          check.hidden.push_back(std::move(change));
        }
      continue;
    }
    auto found = both ? explain(parting, threads) : explain_without_original(parting);
    if (is_rewritten(found, *layer.judged)) {
      layer.judged->verdict = Verdict::rounding;
      layer.judged->findings = {
          {.id = "conversion.rewritten", .numbers = {{"max_ulp", layer.judged->metrics.max_ulp}}}};
      continue;
    }
    for (Explanation& explanation : found) {
      explanation.layer = i;
      check.explanations.push_back(std::move(explanation));
    }
  }
}

}  // namespace

Result<Check> check_conversion(const Side& a, const Side& b, const ValueMap& map, ThreadPool& threads,
                               const VerifyProgress& progress) {
  const bool a_judges = a.graph() != nullptr;
  const Side& judge = a_judges ? a : b;
  if (judge.graph() == nullptr)
    return bad_input(
        "neither A nor B is a model: two traces are compared with driftscope compare MODEL --right "
        "file/A,file/B");
  Check check;
  check.judged_by = a_judges ? "A" : "B";
  {
    DRIFTSCOPE_TRY(Alignment found, align(a, b, map));
    check.alignment = with_folded_normalizations(a, b, without_contradictions(a, b, std::move(found)));
  }
  const Trace exchanged = in_the_place_of(judge, a_judges ? b : a, check.alignment, a_judges);
  DRIFTSCOPE_CHECK(check_inputs(judge, exchanged));
  DRIFTSCOPE_TRY(Verification verification, verify(*judge.graph(), "", exchanged, threads, progress));
  std::unordered_map<std::string, LayerVerdict> verdicts;
  for (LayerVerdict& verdict : verification.layers) {
    std::string name = verdict.output;
    verdicts.emplace(std::move(name), std::move(verdict));
  }
  for (const ValuePair& pair : check.alignment.pairs) {
    CheckedLayer layer = layer_of(a, b, pair, threads);
    const auto verdict = verdicts.find(a_judges ? pair.a : pair.b);
    if (verdict != verdicts.end()) layer.judged = std::move(verdict->second);
    check.layers.push_back(std::move(layer));
  }
  add_explanations(check, a, b, threads);
  conclude(check);
  return check;
}

}  // namespace driftscope::convert
