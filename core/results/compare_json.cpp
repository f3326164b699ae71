#include "core/results/compare_json.hpp"

#include "core/base/json.hpp"
#include "core/results/metrics_json.hpp"
#include "core/results/verify_json.hpp"

namespace driftscope {
namespace {

using Json = nlohmann::ordered_json;

Json layer_to_json(const LayerDifference& layer) {
  Json json;
  json["node"] = layer.node;
  json["op"] = layer.op;
  json["output"] = layer.output;
  json["shape"] = layer.shape;
  add_metrics(json, MetricSource::compare, layer);
  json["left_ns"] = layer.left_ns;
  json["right_ns"] = layer.right_ns;
  if (!layer.reason.empty()) json["reason"] = layer.reason;
  return json;
}

void add_comparison(Json& json, const Comparison& comparison) {
  json["first_divergence"] = comparison.first_divergence ? Json(*comparison.first_divergence) : Json(nullptr);
  json["layers"] = Json::array();
  for (const LayerDifference& layer : comparison.layers) json["layers"].push_back(layer_to_json(layer));
  json["output"] = {{"top1_left", comparison.output.top1_left},
                    {"top1_right", comparison.output.top1_right},
                    {"agree", comparison.output.agree}};
  json["memory"] = {{"peak_bytes", comparison.peak_bytes}, {"kind", comparison.peak_kind}};
}

Json target_to_json(const ComparedTarget& target) {
  Json json;
  json["target"] = target.target;
  if (target.verification != nullptr) json["verify"] = verification_to_json(*target.verification);
  if (target.comparison != nullptr) add_comparison(json, *target.comparison);
  if (!target.error.empty()) json["error"] = target.error;
  return json;
}

}  // namespace

std::string comparison_json(const ComparedTarget& left, std::span<const ComparedTarget> right) {
  Json json;
  json["format"] = "driftscope-compare-1";
  json["left"] = target_to_json(left);
  json["right"] = Json::array();
  for (const ComparedTarget& target : right) json["right"].push_back(target_to_json(target));
  return json_text(json, 1);
}

}  // namespace driftscope
