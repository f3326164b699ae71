// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/perturbation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/trace/run_fact.hpp"
#include "core/verify/metrics.hpp"
#include "generated/documents/observer_check.hpp"

namespace driftscope {
namespace {

constexpr const char* run_key = "observer_check";

}  // namespace

Result<PerturbationCheck> check_perturbation(const Graph& graph, const Trace& traced,
                                             const Trace& unwatched) {
  PerturbationCheck check;
  for (const ValueId id : graph.outputs) {
    const std::string& name = graph.values[id].name;
    const Tensor* left = traced.find(name);
    const Tensor* right = unwatched.find(name);
    if (left == nullptr || right == nullptr)
      return internal_error(fmt::format("trace_sink check: output {} is not in both runs", name));
    const auto metrics = measure(*left, *right);
    if (!metrics.ok()) {
      check.reason = fmt::format("output {}: {}", name, metrics.error().message);
      continue;
    }
    check.different_elements += metrics->different_elements;
    check.elements += metrics->elements;
    check.max_ulp = std::max(check.max_ulp, metrics->max_ulp);
  }
  return check;
}

void add_perturbation_check(Trace& trace, const PerturbationCheck& check) {
  set_run_fact(trace, run_key, encode(check));
}

std::optional<PerturbationCheck> perturbation_check_of(const Trace& trace) {
  return run_fact<PerturbationCheck>(trace, run_key);
}

std::string perturbation_text(const Trace& trace) {
  const auto check = perturbation_check_of(trace);
  if (!check) return "";
  if (!check->changed())
    return fmt::format("capturing changed none of the {} elements of the outputs", check->elements);
  if (!check->reason.empty()) return "capturing changed the outputs: " + check->reason;
  return fmt::format("capturing changed {} of the {} elements of the outputs, by up to {:.6g} ULP",
                     check->different_elements, check->elements, check->max_ulp);
}

}  // namespace driftscope
