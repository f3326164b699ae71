// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/group_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/float_bits.hpp"
#include "core/verify/verify_tensor.hpp"

namespace driftscope {
namespace {

constexpr std::uint64_t disturbed_runs = 8;
constexpr double likely_factor = 32.0;
constexpr double fault_factor = 1024.0;
// Functions may give 0 or the smallest normal number for what lies below it (FunctionAccuracy::absolute);
// the runs give what is right. A few of them may add up.
constexpr double flushed_results = 4 * 0x1p-126;

struct RunErrors {
  std::vector<double> largest;  // of each element over all runs; infinite where a run is not finite
  double rms = 0.0;             // over the tensor, the largest of a run
};

// Nothing where a run cannot be made.
std::optional<RunErrors> errors_of_runs(std::span<const Bounded> reference, const Shape& shape,
                                        const GroupWitness& group) {
  RunErrors errors;
  errors.largest.resize(reference.size());
  for (std::uint64_t seed = 0; seed <= disturbed_runs; ++seed) {
    const std::optional<Tensor> run = group.run(seed);
    if (!run || run->dtype() != DType::float32 || run->shape() != shape) return std::nullopt;
    const auto values = run->values<float>();
    double squares = 0.0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < reference.size(); ++i) {
      if (!std::isfinite(reference[i].value)) continue;
      const double error = std::fabs(static_cast<double>(values[i]) - reference[i].value);
      if (!std::isfinite(error)) {
        errors.largest[i] = HUGE_VAL;
        continue;
      }
      errors.largest[i] = std::fmax(errors.largest[i], error);
      squares += error * error;
      ++count;
    }
    if (count > 0) errors.rms = std::fmax(errors.rms, std::sqrt(squares / static_cast<double>(count)));
  }
  return errors;
}

// The reference with the estimates replacing wider bounds. A result that is not finite is one that the runs
// need not have met: the bound alone says whether it may be.
std::vector<Bounded> narrowed(std::span<const Bounded> reference, const RunErrors& errors,
                              const ErrorModel& model, const Tensor& got) {
  const auto values = got.values<float>();
  const double scale = std::fmax(1.0, model.unit_roundoff / unit_roundoff_f32);
  std::vector<Bounded> result(reference.begin(), reference.end());
  for (std::size_t i = 0; i < result.size(); ++i) {
    Bounded& x = result[i];
    if (!std::isfinite(x.value) || !std::isfinite(values[i])) continue;
    const double resolution = format_resolution(x.value, model.ulp) + flushed_results;
    x.likely = std::fmin(x.likely, likely_factor * scale * errors.largest[i] + resolution);
    x.worst =
        std::fmin(x.worst, fault_factor * scale * std::fmax(errors.largest[i], errors.rms) + resolution);
    x.worst = std::fmax(x.worst, x.likely);
    x.systematic = std::fmin(x.systematic, x.likely);
  }
  return result;
}

Finding record_as_well(const std::string& value) {
  return {.id = "budget.record_as_well", .words = {{"value", value}}};
}

}  // namespace

std::vector<Finding> inconclusive(Blindness blind, const std::string& suggestion,
                                  const std::string& unbounded) {
  if (blind == Blindness::none) return {};
  std::vector<Finding> findings = {{.id = "budget.inconclusive", .words = {{"why", blindness_text(blind)}}}};
  if (blind == Blindness::infinite && !unbounded.empty())
    findings.front().words.emplace_back("cause", unbounded);
  if (!suggestion.empty()) findings.push_back(record_as_well(suggestion));
  return findings;
}

void judge_by_runs(LayerVerdict& layer, std::span<const Bounded> reference, const Tensor& got,
                   const ErrorModel& model, Blindness blind, const GroupWitness& group, ThreadPool& threads) {
  layer.verdict = blind == Blindness::none ? Verdict::suspect : Verdict::unjudged;
  layer.findings = inconclusive(blind, group.suggestion, group.unbounded);
  if (got.dtype() != DType::float32) return;
  const auto errors = errors_of_runs(reference, got.shape(), group);
  if (!errors) return;
  const std::vector<Bounded> estimate = narrowed(reference, *errors, model, got);
  const Blindness still = blindness(estimate, {.ulp = model.ulp, .group = true}, threads);
  const TensorUse use = verify_tensor(estimate, got, model, threads).verified;
  if (blind != Blindness::none) layer.budget_used_statistical = use.use.likely;
  if (blind != Blindness::none && still == Blindness::none && use.use.likely <= 1.0) {
    layer.verdict = Verdict::rounding;
    layer.findings = {{.id = "budget.runs_within", .numbers = {{"used", use.use.likely}}}};
  } else if (use.use.worst > 1.0 && group.continuous) {
    layer.verdict = Verdict::fault;
    layer.budget_used = use.use.worst;
    layer.budget_used_statistical = use.use.likely;
    layer.worst = worst_element(estimate, use.worst_element, got);
    layer.findings = {{.id = "budget.runs_beyond", .numbers = {{"used", use.use.worst}}}};
  } else if (blind != Blindness::none) {
    layer.findings = inconclusive(blind, "", group.unbounded);
    layer.findings.push_back({.id = "budget.runs", .numbers = {{"used", use.use.likely}}});
    if (!group.suggestion.empty()) layer.findings.push_back(record_as_well(group.suggestion));
  }
}

}  // namespace driftscope
