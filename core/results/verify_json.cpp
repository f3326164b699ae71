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

Json layer_to_json(const LayerVerdict& layer) {
  Json object;
  object["node"] = layer.node;
  object["op"] = layer.op;
  object["output"] = layer.output;
  object["shape"] = layer.shape;
  object["verdict"] = verdict_name(layer.verdict);
  add_metrics(object, MetricSource::verify, layer);
  object["worst"] = layer.worst ? worst_to_json(*layer.worst) : Json(nullptr);
  if (!layer.group.empty()) object["group"] = layer.group;
  if (!layer.reason.empty()) object["reason"] = layer.reason;
  return object;
}

}  // namespace

void write_verification(JsonWriter& json, const Verification& verification, const std::string& names) {
  json.begin_object();
  json.member("format", "driftscope-verify-1");
  json.member("model_sha256", verification.model_sha256);
  json.member("target", verification.target);
  json.member("verdict", verdict_name(verification.verdict));
  json.member("first_fault", verification.first_fault ? Json(*verification.first_fault) : Json(nullptr));
  json.key("layers");
  json.begin_array();
  for (const LayerVerdict& layer : verification.layers) json.value(layer_to_json(layer));
  json.end();
  if (!names.empty()) json.member("names", names);
  json.end();
}

std::string verification_json(const Verification& verification) {
  JsonWriter json;
  write_verification(json, verification);
  return json.take();
}

}  // namespace driftscope
