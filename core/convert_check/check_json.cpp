#include "core/base/json_writer.hpp"
#include "core/convert_check/check_view.hpp"
#include "core/results/metrics_json.hpp"
#include "generated/documents/convert_check.hpp"

namespace driftscope::convert {
namespace {

using Json = nlohmann::ordered_json;

documents::CheckedModel model_of(const CheckedModel& model) {
  documents::CheckedModel one;
  one.path = model.path;
  one.kind = model.kind;
  one.bytes = model.bytes;
  if (model.nodes > 0) {
    one.load_ms = model.load_ms;
    one.nodes = model.nodes;
    one.weights = model.weights;
  }
  one.notes = model.notes;
  return one;
}

/// The conversion's own computation of a layer.
Json own_json(const LayerVerdict& judged) {
  Json own;
  add_metrics(own, MetricSource::verify, judged);
  put_unless_empty(own, "group", judged.group);
  put_unless_empty(own, "reason", reason_of(judged));
  return own;
}

Json layer_json(const CheckedLayer& layer) {
  documents::CheckedLayer one;
  one.a = layer.values.a;
  one.b = layer.values.b;
  one.by = found_by_name(layer.values.by);
  one.order = {layer.values.order.begin(), layer.values.order.end()};
  one.node_a = layer.node;
  one.op_a = layer.op;
  one.node_b = layer.node_b;
  one.op_b = layer.op_b;
  one.shape = layer.shape;
  one.output = layer.output;
  if (layer.reason.empty()) one.drift = layer.drift;
  one.reason = layer.reason;
  if (layer.judged) one.verdict = layer.judged->verdict;
  Json json = encode(one);
  if (layer.judged) json["own"] = own_json(*layer.judged);
  return json;
}

documents::Explanation explanation_of(const Check& check, const Explanation& one) {
  return {check.layers[one.layer].values.a,
          std::string(cause_name(one.cause)),
          one.node_a,
          one.node_b,
          one.text,
          one.confirmed,
          one.together};
}

documents::DatasetCheck dataset_of(const DatasetCheck& data) {
  documents::DatasetCheck one;
  one.text = data.text;
  one.samples = data.samples;
  one.top1_agree = data.agree;
  if (data.a.correct >= 0) {
    one.correct_a = data.a.correct;
    one.correct_b = data.b.correct;
  }
  one.drift = data.drift;
  return one;
}

}  // namespace

std::string check_json(const CheckView& view) {
  const Check& check = view.check;
  JsonWriter out;
  out.begin_object();
  out.member("format", "driftscope-convert-check-1");
  out.member("a", encode(model_of(view.a)));
  out.member("b", encode(model_of(view.b)));
  out.member("target", view.target);
  out.member("input", view.input_text);
  out.member("verdict", verdict_name(check.verdict));
  out.member("judged_by", check.judged_by);
  if (!view.reordered.empty()) {
    Json inputs = Json::array();
    for (const ValuePair& pair : view.reordered) inputs.push_back(encode(pair));
    out.member("reordered", inputs);
  }
  out.member("headline", check_headline(check));
  out.member("first_parting",
             check.first_parting ? Json(check.layers[*check.first_parting].values.a) : Json(nullptr));
  out.key("why");
  out.begin_array();
  for (const Explanation& one : check.explanations) out.value(encode(explanation_of(check, one)));
  out.end();
  out.key("hidden");
  out.begin_array();
  for (const Explanation& one : check.hidden) out.value(encode(explanation_of(check, one)));
  out.end();
  out.key("layers");
  out.begin_array();
  for (const CheckedLayer& layer : check.layers) out.value(layer_json(layer));
  out.end();
  out.member("only_a", check.alignment.only_a);
  out.member("only_b", check.alignment.only_b);
  if (view.dataset) out.member("dataset", encode(dataset_of(*view.dataset)));
  out.end();
  return out.take() + "\n";
}

}  // namespace driftscope::convert
