#include "core/results/view_json.hpp"

#include "core/base/json.hpp"
#include "core/results/compare_json.hpp"
#include "core/verify/name_match.hpp"

namespace driftscope {
namespace {

using nlohmann::json;

ComparedTarget compared(const TargetResult& result) {
  ComparedTarget target;
  target.target = result.target;
  if (result.verification) target.verification = &*result.verification;
  if (result.comparison) target.comparison = &*result.comparison;
  if (result.error) target.error = result.error->message;
  return target;
}

void add_dataset(json& object, const TargetResult& result, const TargetResult& left) {
  if (!result.dataset) return;
  json dataset = {{"samples", result.dataset->samples}, {"correct", nullptr}, {"agree", nullptr}};
  if (result.dataset->correct >= 0) dataset["correct"] = result.dataset->correct;
  if (left.dataset) dataset["agree"] = agreement(*left.dataset, *result.dataset);
  object["dataset"] = dataset;
}

void add_perturbation(json& object, const TargetResult& result) {
  if (!result.trace) return;
  const json run = parse_json(result.trace->run);
  if (run.is_object() && run.contains("observer_check")) object["observer_check"] = run["observer_check"];
  if (const std::string names = name_match_text(*result.trace); !names.empty()) object["names"] = names;
}

}  // namespace

std::string view_json(const ComparisonView& view, const std::string& gate) {
  std::vector<ComparedTarget> right;
  for (const TargetResult& result : view.right) right.push_back(compared(result));
  json object = parse_json(comparison_json(compared(view.left), right));
  add_dataset(object["left"], view.left, view.left);
  add_perturbation(object["left"], view.left);
  for (std::size_t i = 0; i < view.right.size(); ++i) {
    add_dataset(object["right"][i], view.right[i], view.left);
    add_perturbation(object["right"][i], view.right[i]);
  }
  if (!gate.empty()) object["gate"] = parse_json(gate);
  return json_text(object, 1);
}

}  // namespace driftscope
