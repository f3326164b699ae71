#include "core/verify/perturbation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/json.hpp"
#include "core/base/json_number.hpp"
#include "core/verify/metrics.hpp"

namespace driftscope {
namespace {

using Json = nlohmann::ordered_json;

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
  Json run = parse_ordered_json(trace.run);
  if (!run.is_object()) run = Json::object();
  run[run_key] = {{"changed", check.changed()},
                  {"different_elements", check.different_elements},
                  {"elements", check.elements},
                  {"max_ulp", json_number(check.max_ulp)}};
  if (!check.reason.empty()) run[run_key]["reason"] = check.reason;
  trace.run = json_text(run);
}

std::optional<PerturbationCheck> perturbation_check_of(const Trace& trace) {
  const Json run = parse_ordered_json(trace.run);
  const auto found = run.is_object() ? run.find(run_key) : run.end();
  if (!run.is_object() || found == run.end() || !found->is_object()) return std::nullopt;
  const auto number = [&](const char* key) {
    const auto value = found->find(key);
    return value != found->end() && value->is_number() ? value->get<double>() : 0.0;
  };
  PerturbationCheck check;
  check.different_elements = static_cast<std::int64_t>(number("different_elements"));
  check.elements = static_cast<std::int64_t>(number("elements"));
  check.max_ulp = number("max_ulp");
  if (const auto reason = found->find("reason"); reason != found->end() && reason->is_string())
    check.reason = reason->get<std::string>();
  return check;
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
