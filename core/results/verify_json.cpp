#include "core/results/verify_json.hpp"

#include "core/base/json.hpp"
#include "core/base/json_number.hpp"

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
  const Metrics& metrics = layer.metrics;
  Json json;
  json["node"] = layer.node;
  json["op"] = layer.op;
  json["output"] = layer.output;
  json["shape"] = layer.shape;
  json["verdict"] = verdict_name(layer.verdict);
  json["budget_used"] = json_number(layer.budget_used);
  json["budget_used_statistical"] = json_number(layer.budget_used_statistical);
  json["max_abs"] = json_number(metrics.max_abs);
  json["max_rel"] = json_number(metrics.max_rel);
  json["max_ulp"] = json_number(metrics.max_ulp);
  json["mean_abs"] = json_number(metrics.mean_abs);
  json["mean_signed_z"] = json_number(layer.mean_signed_z);
  json["cosine"] = json_number(metrics.cosine);
  json["sqnr_db"] = json_number(metrics.sqnr_db);
  json["different_elements"] = metrics.different_elements;
  json["elements"] = metrics.elements;
  json["nan"] = metrics.nan;
  json["inf"] = metrics.inf;
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
