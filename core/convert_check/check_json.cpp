#include "core/base/json_writer.hpp"
#include "core/convert_check/check_view.hpp"
#include "core/results/metrics_json.hpp"

namespace driftscope::convert {
namespace {

using Json = nlohmann::ordered_json;

Json model_json(const CheckedModel& model) {
  Json json = {{"path", model.path}, {"kind", model.kind}, {"bytes", model.bytes}};
  if (model.nodes > 0) {
    json["load_ms"] = json_number(model.load_ms);
    json["nodes"] = model.nodes;
    json["weights"] = model.weights;
  }
  if (!model.notes.empty()) json["notes"] = model.notes;
  return json;
}

Json metrics_json(const Metrics& metrics) {
  return {{"max_abs", json_number(metrics.max_abs)},
          {"max_rel", json_number(metrics.max_rel)},
          {"mean_abs", json_number(metrics.mean_abs)},
          {"mean_rel", json_number(metrics.mean_rel)},
          {"max_ulp", json_number(metrics.max_ulp)},
          {"cosine", json_number(metrics.cosine)},
          {"sqnr_db", json_number(metrics.sqnr_db)},
          {"different_elements", metrics.different_elements},
          {"elements", metrics.elements}};
}

Json layer_json(const CheckedLayer& layer) {
  Json json = {{"a", layer.values.a}, {"b", layer.values.b}, {"by", found_by_name(layer.values.by)}};
  if (!layer.values.order.empty()) json["order"] = layer.values.order;
  if (!layer.node.empty()) json["node_a"] = layer.node;
  if (!layer.op.empty()) json["op_a"] = layer.op;
  if (!layer.node_b.empty()) json["node_b"] = layer.node_b;
  if (!layer.op_b.empty()) json["op_b"] = layer.op_b;
  json["shape"] = layer.shape;
  if (layer.output) json["output"] = true;
  json["drift"] = layer.reason.empty() ? metrics_json(layer.drift) : Json(nullptr);
  if (!layer.reason.empty()) json["reason"] = layer.reason;
  if (layer.judged) {
    json["verdict"] = verdict_name(layer.judged->verdict);
    Json own;
    add_metrics(own, MetricSource::verify, *layer.judged);
    if (!layer.judged->group.empty()) own["group"] = layer.judged->group;
    if (!layer.judged->findings.empty()) own["reason"] = reason_of(*layer.judged);
    json["own"] = std::move(own);
  }
  return json;
}

Json explanation_json(const Check& check, const Explanation& one) {
  Json json = {{"layer", check.layers[one.layer].values.a}, {"cause", cause_name(one.cause)}};
  if (!one.node_a.empty()) json["node_a"] = one.node_a;
  if (!one.node_b.empty()) json["node_b"] = one.node_b;
  json["text"] = one.text;
  json["confirmed"] = one.confirmed ? Json(*one.confirmed) : Json(nullptr);
  return json;
}

}  // namespace

std::string check_json(const CheckView& view) {
  const Check& check = view.check;
  JsonWriter out;
  out.begin_object();
  out.member("format", "driftscope-convert-check-1");
  out.member("a", model_json(view.a));
  out.member("b", model_json(view.b));
  out.member("target", view.target);
  out.member("input", view.input_text);
  out.member("verdict", verdict_name(check.verdict));
  out.member("judged_by", check.judged_by);
  if (!view.reordered.empty()) {
    Json inputs = Json::array();
    for (const ValuePair& pair : view.reordered)
      inputs.push_back({{"a", pair.a}, {"b", pair.b}, {"order", pair.order}});
    out.member("reordered", inputs);
  }
  out.member("headline", check_headline(check));
  out.member("first_parting",
             check.first_parting ? Json(check.layers[*check.first_parting].values.a) : Json(nullptr));
  out.key("why");
  out.begin_array();
  for (const Explanation& one : check.explanations) out.value(explanation_json(check, one));
  out.end();
  out.key("hidden");
  out.begin_array();
  for (const Explanation& one : check.hidden) out.value(explanation_json(check, one));
  out.end();
  out.key("layers");
  out.begin_array();
  for (const CheckedLayer& layer : check.layers) out.value(layer_json(layer));
  out.end();
  out.member("only_a", check.alignment.only_a);
  out.member("only_b", check.alignment.only_b);
  if (view.dataset) {
    const DatasetCheck& data = *view.dataset;
    Json json = {{"text", data.text}, {"samples", data.samples}, {"top1_agree", data.agree}};
    if (data.a.correct >= 0) json["correct_a"] = data.a.correct, json["correct_b"] = data.b.correct;
    json["drift"] = metrics_json(data.drift);
    out.member("dataset", json);
  }
  out.end();
  return out.take() + "\n";
}

}  // namespace driftscope::convert
