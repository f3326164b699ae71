#include "core/results/verify_json.hpp"

#include "core/base/json.hpp"
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

nlohmann::ordered_json verification_to_json(const Verification& verification) {
  Json object;
  object["format"] = "driftscope-verify-1";
  object["model_sha256"] = verification.model_sha256;
  object["target"] = verification.target;
  object["verdict"] = verdict_name(verification.verdict);
  object["first_fault"] = verification.first_fault ? Json(*verification.first_fault) : Json(nullptr);
  object["layers"] = Json::array();
  for (const LayerVerdict& layer : verification.layers) object["layers"].push_back(layer_to_json(layer));
  return object;
}

std::string verification_json(const Verification& verification) {
  // Names come from the model's file and may be no UTF-8.
  return json_text(verification_to_json(verification), 1);
}

}  // namespace driftscope
