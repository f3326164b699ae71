#include "core/results/view_json.hpp"

#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/base/json.hpp"
#include "core/base/json_lists.hpp"
#include "core/results/verify_json.hpp"
#include "core/verify/name_match.hpp"
#include "generated/documents/compare.hpp"

namespace driftscope {
namespace {

using Json = nlohmann::ordered_json;

using VerdictsByOutput = std::unordered_map<std::string_view, const LayerVerdict*>;

VerdictsByOutput verdicts_of(const TargetResult& result) {
  VerdictsByOutput verdicts;
  if (result.verification)
    for (const LayerVerdict& layer : result.verification->layers) verdicts.emplace(layer.output, &layer);
  return verdicts;
}

Json layer_to_json(const LayerDifference& layer, const LayerVerdict* verified) {
  Json object = encode(layer);
  object["verdict"] = verdict_name(combined_verdict(layer, verified));
  if (!layer.recorded) object["unrecorded"] = true;
  return object;
}

void write_comparison(JsonWriter& out, const Comparison& comparison, const VerdictsByOutput& verdicts) {
  out.member("first_divergence",
             comparison.first_divergence ? Json(*comparison.first_divergence) : Json(nullptr));
  out.key("layers");
  out.begin_array();
  for (const LayerDifference& layer : comparison.layers) {
    const auto verified = verdicts.find(layer.output);
    out.value(layer_to_json(layer, verified == verdicts.end() ? nullptr : verified->second));
  }
  out.end();
  out.member("output", encode(comparison.output));
  out.member("memory", encode(documents::Peak{comparison.peak_bytes, comparison.peak_kind}));
}

Json dataset_to_json(const DatasetResult& result, const TargetResult& left) {
  documents::DatasetResult dataset = {.samples = result.samples, .predictions = result.predictions};
  if (result.correct >= 0) dataset.correct = result.correct;
  if (const std::int64_t same = left.dataset ? agreement(*left.dataset, result) : -1; same >= 0)
    dataset.agree = same;
  return encode(dataset);
}

/// What is known of a run beside its values.
void write_run(JsonWriter& out, const Trace& trace) {
  auto read = parse_document(trace.run);
  const Json run = read.ok() && read->is_object() ? *std::move(read) : Json::object();
  out.member("ran", run);
  if (const MemoryRecord peak = peak_memory(trace); !peak.kind.empty())
    out.member("peak_memory", encode(peak));
  for (const char* check : {"observer_check", "memory_runs"})
    if (run.contains(check)) out.member(check, run[check]);
  if (const std::string names = name_match_text(trace); !names.empty()) out.member("names", names);
}

/// What the model, its input and this machine are, as far as it is known.
void write_head(JsonWriter& out, const ComparisonView& view) {
  const std::pair<std::string_view, const std::string&> texts[] = {
      {"model", view.model_name},     {"model_sha256", view.model_sha256},
      {"input", view.input_text},     {"input_label", view.input_label},
      {"dataset", view.dataset_text}, {"command", view.command},
      {"build", view.build}};
  for (const auto& [key, text] : texts)
    if (!text.empty()) out.member(key, text);
  if (const Json machine = parse_ordered_json(view.machine); machine.is_object() && !machine.empty())
    out.member("machine", machine);
  if (!view.class_names.empty()) out.member("class_names", view.class_names);
  if (!view.notes.empty()) out.member("notes", view.notes);
}

void write_target(JsonWriter& out, const TargetResult& result, const TargetResult& left) {
  out.begin_object();
  out.member("target", result.target);
  if (result.verification) {
    out.key("verify");
    write_verification(out, *result.verification);
  }
  if (result.comparison) write_comparison(out, *result.comparison, verdicts_of(result));
  const RunTime time = run_time(result);
  if (result.stored_time || time.kind != TimeKind::unknown || !time.error.empty())
    out.member("time", encode(time));
  if (result.error) {
    out.member("error", result.error->message);
    out.member("error_kind", error_kind_name(result.error->kind));
  }
  if (result.dataset) out.member("dataset", dataset_to_json(*result.dataset, left));
  if (result.trace) write_run(out, *result.trace);
  out.end();
}

}  // namespace

std::string view_json(const ComparisonView& view) {
  JsonWriter out;
  out.begin_object();
  out.member("format", "driftscope-compare-1");
  out.member("headline", headline(view));
  write_head(out, view);
  out.key("left");
  write_target(out, view.left, view.left);
  out.key("right");
  out.begin_array();
  for (const TargetResult& result : view.right) write_target(out, result, view.left);
  out.end();
  if (!view.gate.empty()) out.member("gate", parse_ordered_json(view.gate));
  out.end();
  return out.take();
}

}  // namespace driftscope
