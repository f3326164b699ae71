#include "core/results/view_json.hpp"

#include "core/base/json.hpp"
#include "core/results/metrics_json.hpp"
#include "core/results/verify_json.hpp"
#include "core/verify/name_match.hpp"

namespace driftscope {
namespace {

using Json = nlohmann::ordered_json;

Json layer_to_json(const LayerDifference& layer) {
  Json object;
  object["node"] = layer.node;
  object["op"] = layer.op;
  object["output"] = layer.output;
  object["shape"] = layer.shape;
  add_metrics(object, MetricSource::compare, layer);
  object["left_ns"] = layer.left_ns;
  object["right_ns"] = layer.right_ns;
  if (!layer.reason.empty()) object["reason"] = layer.reason;
  return object;
}

void write_comparison(JsonWriter& json, const Comparison& comparison) {
  json.member("first_divergence",
              comparison.first_divergence ? Json(*comparison.first_divergence) : Json(nullptr));
  json.key("layers");
  json.begin_array();
  for (const LayerDifference& layer : comparison.layers) json.value(layer_to_json(layer));
  json.end();
  json.member("output", {{"top1_left", comparison.output.top1_left},
                         {"top1_right", comparison.output.top1_right},
                         {"agree", comparison.output.agree}});
  json.member("memory", {{"peak_bytes", comparison.peak_bytes}, {"kind", comparison.peak_kind}});
}

Json dataset_to_json(const DatasetResult& result, const TargetResult& left) {
  Json dataset = {{"samples", result.samples}, {"correct", nullptr}, {"agree", nullptr}};
  if (result.correct >= 0) dataset["correct"] = result.correct;
  if (left.dataset) dataset["agree"] = agreement(*left.dataset, result);
  return dataset;
}

void write_target(JsonWriter& json, const TargetResult& result, const TargetResult& left) {
  json.begin_object();
  json.member("target", result.target);
  if (result.verification) {
    json.key("verify");
    write_verification(json, *result.verification);
  }
  if (result.comparison) write_comparison(json, *result.comparison);
  if (result.error) json.member("error", result.error->message);
  if (result.dataset) json.member("dataset", dataset_to_json(*result.dataset, left));
  if (result.trace) {
    const Json run = parse_ordered_json(result.trace->run);
    if (run.is_object() && run.contains("observer_check"))
      json.member("observer_check", run["observer_check"]);
    if (const std::string names = name_match_text(*result.trace); !names.empty()) json.member("names", names);
  }
  json.end();
}

}  // namespace

std::string view_json(const ComparisonView& view, const std::string& gate) {
  JsonWriter json;
  json.begin_object();
  json.member("format", "driftscope-compare-1");
  json.key("left");
  write_target(json, view.left, view.left);
  json.key("right");
  json.begin_array();
  for (const TargetResult& result : view.right) write_target(json, result, view.left);
  json.end();
  if (!gate.empty()) json.member("gate", parse_ordered_json(gate));
  json.end();
  return json.take();
}

}  // namespace driftscope
