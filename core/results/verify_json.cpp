#include "core/results/verify_json.hpp"

#include "core/base/json_number.hpp"
#include "core/results/metrics_json.hpp"

namespace driftscope {
namespace {

using Json = nlohmann::ordered_json;

Json worst_to_json(const WorstElement& worst) {
  Json object;
  object["index"] = worst.index;
  object["got"] = json_number(worst.got);
  object["want"] = json_number(worst.want);
  object["budget"] = json_number(worst.budget);
  return object;
}

Json external_to_json(const ExternalBudget& external) {
  Json object;
  object["operators"] = external.operators;
  object["metric"] = external.metric == BudgetMetric::ulp ? "ulp" : "absolute";
  object["budget"] = json_number(external.budget);
  object["seen"] = json_number(external.seen);
  object["within"] = external.within;
  return object;
}

Json layer_to_json(const LayerVerdict& layer, const std::string& budgets) {
  Json object;
  object["node"] = layer.node;
  object["op"] = layer.op;
  object["output"] = layer.output;
  object["shape"] = layer.shape;
  if (layer.constant) object["constant"] = true;
  object["verdict"] = verdict_name(layer.verdict);
  add_metrics(object, MetricSource::verify, layer);
  object["worst"] = layer.worst ? worst_to_json(*layer.worst) : Json(nullptr);
  if (!layer.group.empty()) object["group"] = layer.group;
  if (!layer.reason.empty()) object["reason"] = layer.reason;
  if (layer.external) object[budgets] = external_to_json(*layer.external);
  return object;
}

}  // namespace

void write_verification(JsonWriter& out, const Verification& verification, const std::string& names) {
  out.begin_object();
  out.member("format", "driftscope-verify-1");
  out.member("model_sha256", verification.model_sha256);
  out.member("target", verification.target);
  out.member("verdict", verdict_name(verification.verdict));
  out.member("first_fault", verification.first_fault ? Json(*verification.first_fault) : Json(nullptr));
  out.key("layers");
  out.begin_array();
  for (const LayerVerdict& layer : verification.layers) out.value(layer_to_json(layer, verification.budgets));
  out.end();
  if (!names.empty()) out.member("names", names);
  out.end();
}

std::string verification_json(const Verification& verification) {
  JsonWriter out;
  write_verification(out, verification);
  return out.take();
}

}  // namespace driftscope
