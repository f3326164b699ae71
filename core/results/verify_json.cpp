#include "core/results/verify_json.hpp"

#include "core/base/json.hpp"
#include "core/base/json_number.hpp"
#include "core/results/metrics_json.hpp"

namespace driftscope {
namespace {

using Json = nlohmann::ordered_json;

Json worst_to_json(const WorstElement& worst) {
  Json json;
  json["index"] = worst.index;
  json["got"] = json_number(worst.got);
  json["want"] = json_number(worst.want);
  json["budget"] = json_number(worst.budget);
  return json;
}

Json layer_to_json(const LayerVerdict& layer) {
  Json json;
  json["node"] = layer.node;
  json["op"] = layer.op;
  json["output"] = layer.output;
  json["shape"] = layer.shape;
  json["verdict"] = verdict_name(layer.verdict);
  add_metrics(json, MetricSource::verify, layer);
  json["worst"] = layer.worst ? worst_to_json(*layer.worst) : Json(nullptr);
  if (!layer.group.empty()) json["group"] = layer.group;
  if (!layer.reason.empty()) json["reason"] = layer.reason;
  return json;
}

}  // namespace

nlohmann::ordered_json verification_to_json(const Verification& verification) {
  Json json;
  json["format"] = "driftscope-verify-1";
  json["model_sha256"] = verification.model_sha256;
  json["target"] = verification.target;
  json["verdict"] = verdict_name(verification.verdict);
  json["first_fault"] = verification.first_fault ? Json(*verification.first_fault) : Json(nullptr);
  json["layers"] = Json::array();
  for (const LayerVerdict& layer : verification.layers) json["layers"].push_back(layer_to_json(layer));
  return json;
}

std::string verification_json(const Verification& verification) {
  // Names come from the model's file and may be no UTF-8.
  return json_text(verification_to_json(verification), 1);
}

}  // namespace driftscope
