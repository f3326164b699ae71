#include "core/results/verify_json.hpp"

#include "core/base/json_number.hpp"
#include "core/results/finding_json.hpp"
#include "core/results/metrics_json.hpp"
#include "core/verify/repeats.hpp"

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
  object["metric"] = budget_metric_name(external.metric);
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
  if (!layer.findings.empty()) {
    object["reason"] = reason_of(layer);
    object["findings"] = findings_json(layer.findings);
  }
  if (layer.external) object[budgets] = external_to_json(*layer.external);
  return object;
}

Json difference_to_json(const JudgedDifference& one) {
  Json object = {{"run", one.difference.run},       {"node", one.difference.node},
                 {"op", one.difference.op},         {"value", one.difference.value},
                 {"values", one.difference.values}, {"zero_signs", one.difference.zero_signs}};
  if (one.metrics) add_metrics(object, MetricSource::verify, *one.metrics);
  object["verdict_first"] = verdict_name(one.first);
  object["verdict"] = verdict_name(one.later);
  if (!one.difference.reason.empty()) object["reason"] = one.difference.reason;
  return object;
}

Json repeats_to_json(const RepeatVerification& repeats) {
  Json groups = Json::array();
  for (const AgreeingRuns& group : repeats.check.groups)
    groups.push_back({{"first", group.first}, {"last", group.last}, {"runs", group.runs}});
  Json different = Json::array();
  for (const JudgedDifference& one : repeats.different) different.push_back(difference_to_json(one));
  Json object = {{"runs", repeats.check.runs},     {"values", repeats.check.values},
                 {"agree", repeats.check.agree()}, {"text", repeats_text(repeats)},
                 {"groups", std::move(groups)},    {"different", std::move(different)}};
  if (repeats.check.more_groups > 0) object["more_groups"] = repeats.check.more_groups;
  return object;
}

}  // namespace

void write_verification(JsonWriter& out, const Verification& verification) {
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
  if (verification.repeats) out.member("repeat_check", repeats_to_json(*verification.repeats));
  if (!verification.names.empty()) out.member("names", verification.names);
  out.end();
}

std::string verification_json(const Verification& verification) {
  JsonWriter out;
  write_verification(out, verification);
  return out.take();
}

}  // namespace driftscope
