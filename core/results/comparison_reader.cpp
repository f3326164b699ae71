#include "core/results/comparison_reader.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "core/base/json.hpp"
#include "core/base/json_lists.hpp"
#include "core/results/finding_json.hpp"
#include "core/results/metrics_table.hpp"

namespace driftscope {
namespace {

using nlohmann::json;

/// A field of the expected type, or the default.
class FieldReader {
 public:
  FieldReader(const json& object, std::string where) : object_(object), where_(std::move(where)) {}

  std::string text(std::string_view key) {
    const json* field = find(key);
    if (field != nullptr && field->is_string()) return field->get<std::string>();
    wrong(key, "a string");
    return {};
  }
  /// null stands for NaN, the largest double for infinity: JSON knows neither.
  double number(std::string_view key) {
    const json* field = find(key);
    if (field == nullptr || field->is_null()) return not_measured;
    if (!field->is_number()) return wrong(key, "a number"), not_measured;
    const double value = field->get<double>();
    return std::abs(value) == std::numeric_limits<double>::max() ? std::copysign(INFINITY, value) : value;
  }
  std::int64_t whole(std::string_view key, std::int64_t absent = 0) {
    const json* field = find(key);
    if (field == nullptr || field->is_null()) return absent;
    if (field->is_number_integer()) return field->get<std::int64_t>();
    return wrong(key, "a whole number"), absent;
  }
  Shape shape(std::string_view key) {
    Shape shape;
    const json* field = find(key);
    if (field == nullptr) return shape;
    if (!field->is_array() || field->size() > max_rank) return wrong(key, "an array of sizes"), shape;
    for (const json& size : *field) {
      if (!size.is_number_integer()) return wrong(key, "an array of sizes"), Shape{};
      shape.push_back(size.get<std::int64_t>());
    }
    return shape;
  }
  std::string optional_text(std::string_view key) {
    const json* field = find(key);
    return field != nullptr && field->is_string() ? field->get<std::string>() : std::string();
  }
  bool flag(std::string_view key) {
    const json* field = find(key);
    if (field == nullptr || field->is_null()) return false;
    if (field->is_boolean()) return field->get<bool>();
    return wrong(key, "true or false"), false;
  }
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  [[nodiscard]] Status status() const { return error_ ? Status(bad_input(*error_)) : Status(); }

 private:
  [[nodiscard]] const json* find(std::string_view key) const {
    const auto found = object_.is_object() ? object_.find(key) : object_.end();
    return found == object_.end() ? nullptr : &*found;
  }
  void wrong(std::string_view key, const char* wanted) {
    if (!error_) error_ = fmt::format("{}: \"{}\" is not {}", where_, key, wanted);
  }

  const json& object_;
  std::string where_;
  std::optional<std::string> error_;
};

/// Reads the metrics of a source's layers. If the other source has the key as well, that one counts.
template <class Layer>
void read_metrics(FieldReader& fields, MetricSource source, Layer& layer) {
  for (const MetricRow& row : metrics_table) {
    if (!row.verified.json && !row.compared.json) continue;
    if (!appearance(row, source).json && !fields.has(row.key)) continue;
    with_field(row, layer, [&](auto& value) {
      if constexpr (std::is_same_v<std::remove_reference_t<decltype(value)>, double>)
        value = fields.number(row.key);
      else
        value = fields.whole(row.key);
    });
  }
}

/// The layers of one array, each read as soon as it is parsed: all of them as JSON would take gigabytes.
struct LayerList {
  std::vector<LayerVerdict> verdicts;
  std::vector<LayerDifference> differences;
  std::optional<std::string> error;  ///< of the first bad layer; those after it are not read
};

Result<LayerVerdict> read_verdict(const json& entry, const std::string& where) {
  FieldReader fields(entry, where);
  LayerVerdict layer;
  layer.node = fields.text("node");
  layer.op = fields.text("op");
  layer.output = fields.text("output");
  layer.shape = fields.shape("shape");
  layer.constant = fields.flag("constant");
  read_metrics(fields, MetricSource::verify, layer);
  if (const auto stored = entry.find("findings"); stored != entry.end()) {
    auto findings = findings_of(*stored);
    if (!findings) return bad_input(where + ": \"findings\" is not a list of findings");
    layer.findings = *std::move(findings);
  } else if (const std::string reason = fields.optional_text("reason"); !reason.empty()) {
    layer.findings = {{.id = "stored.reason", .words = {{"text", reason}}}};  // of an earlier version
  }
  const auto verdict = verdict_named(fields.text("verdict"));
  DRIFTSCOPE_CHECK(fields.status());
  if (!verdict) return bad_input(where + ": unknown \"verdict\"");
  layer.verdict = *verdict;
  return layer;
}

Result<LayerDifference> read_difference(const json& entry, const std::string& where) {
  FieldReader fields(entry, where);
  LayerDifference layer;
  layer.node = fields.text("node");
  layer.op = fields.optional_text("op");
  layer.output = fields.text("output");
  layer.shape = fields.shape("shape");
  layer.constant = fields.flag("constant");
  read_metrics(fields, MetricSource::compare, layer);
  layer.left_ns = fields.whole("left_ns");
  layer.right_ns = fields.whole("right_ns");
  layer.reason = fields.optional_text("reason");
  // Earlier versions say it in the reason alone.
  layer.recorded = !fields.flag("unrecorded") && !layer.reason.starts_with("not recorded");
  DRIFTSCOPE_CHECK(fields.status());
  return layer;
}

/// All layer arrays of a text, and the rest of it as JSON.
class LayerLists {
 public:
  explicit LayerLists(std::string_view text)
      : rest_(parse_json_lists(text, "layers",
                               [this](std::size_t list, std::string_view owner, const json& entry) {
                                 add(list, owner, entry);
                               })) {}

  [[nodiscard]] const json& rest() const { return rest_; }

  /// The list that stood in an object, moved out.
  Result<LayerList> take(const json& object, const std::string& where) {
    const auto layers = object.find("layers");
    const auto number = layers == object.end() ? std::nullopt : list_number(*layers);
    if (!number) {
      const bool array = layers != object.end() && layers->is_array();
      return bad_input(where + (array ? ": \"layers\" contains an entry that is not a layer"
                                      : ": \"layers\" is missing or not an array"));
    }
    if (*number >= lists_.size()) return LayerList();  // empty, with no array after it
    if (lists_[*number].error) return bad_input(where + ", " + *lists_[*number].error);
    return std::move(lists_[*number]);
  }

 private:
  void add(std::size_t number, std::string_view owner, const json& entry) {
    if (number >= lists_.size()) lists_.resize(number + 1);
    LayerList& list = lists_[number];
    if (list.error) return;
    const auto keep = [&](auto layer, auto& layers) {
      if (layer.ok())
        layers.push_back(*std::move(layer));
      else
        list.error = layer.error().message;
    };
    // Layers of "left" and "right" are differences; all others are from verify.
    if (owner == "left" || owner == "right")
      keep(read_difference(entry, fmt::format("layer {}", list.differences.size())), list.differences);
    else
      keep(read_verdict(entry, fmt::format("layer {}", list.verdicts.size())), list.verdicts);
  }

  std::vector<LayerList> lists_;
  json rest_;
};

Result<Verification> read_verification(const json& object, LayerLists& lists, const std::string& where) {
  if (!object.is_object()) return bad_input(where + ": expected an object");
  Verification verification;
  FieldReader head(object, where);
  verification.target = head.optional_text("target");
  verification.model_sha256 = head.optional_text("model_sha256");
  const std::string first_fault = head.optional_text("first_fault");
  if (!first_fault.empty()) verification.first_fault = first_fault;
  const auto whole = verdict_named(head.text("verdict"));
  DRIFTSCOPE_CHECK(head.status());
  if (!whole) return bad_input(where + ": \"verdict\" is unknown");
  verification.verdict = *whole;
  DRIFTSCOPE_TRY(LayerList layers, lists.take(object, where));
  verification.layers = std::move(layers.verdicts);
  return verification;
}

Result<Comparison> read_differences(const json& object, LayerLists& lists, const std::string& where) {
  Comparison comparison;
  FieldReader head(object, where);
  const std::string first = head.optional_text("first_divergence");
  if (!first.empty()) comparison.first_divergence = first;
  DRIFTSCOPE_TRY(LayerList layers, lists.take(object, where));
  comparison.layers = std::move(layers.differences);
  if (const auto output = object.find("output"); output != object.end()) {
    FieldReader fields(*output, where + ", output");
    comparison.output.top1_left = fields.whole("top1_left", -1);
    comparison.output.top1_right = fields.whole("top1_right", -1);
    comparison.output.agree = fields.flag("agree");
    DRIFTSCOPE_CHECK(fields.status());
  }
  if (const auto memory = object.find("memory"); memory != object.end()) {
    FieldReader fields(*memory, where + ", memory");
    comparison.peak_bytes = fields.whole("peak_bytes");
    comparison.peak_kind = fields.optional_text("kind");
    DRIFTSCOPE_CHECK(fields.status());
  }
  return comparison;
}

Result<DatasetResult> read_dataset_result(const json& object, const std::string& where) {
  FieldReader fields(object, where);
  DatasetResult result;
  result.samples = fields.whole("samples");
  result.correct = fields.whole("correct", -1);
  result.agrees_with_left = fields.whole("agree", -1);
  DRIFTSCOPE_CHECK(fields.status());
  for (const std::int64_t count : {result.correct, result.agrees_with_left})
    if (count < -1 || count > result.samples)
      return bad_input(fmt::format("{}: {} of {} samples", where, count, result.samples));
  return result;
}

Result<TargetResult> read_target(const json& object, LayerLists& lists, const std::string& where) {
  if (!object.is_object()) return bad_input(where + ": expected an object");
  TargetResult result;
  FieldReader head(object, where);
  result.target = head.text("target");
  const std::string error = head.optional_text("error");
  if (!error.empty()) result.error = Error{ErrorKind::bad_input, error};
  DRIFTSCOPE_CHECK(head.status());
  if (const auto verify = object.find("verify"); verify != object.end()) {
    DRIFTSCOPE_TRY(result.verification, read_verification(*verify, lists, where + ", verify"));
  }
  if (object.contains("layers")) {
    DRIFTSCOPE_TRY(result.comparison, read_differences(object, lists, where));
    result.comparison->target = result.target;
  }
  if (const auto time = object.find("time"); time != object.end()) {
    result.stored_time = run_time_from(*time);
    if (!result.stored_time) return bad_input(where + ": \"time\" has no \"ns\" or no \"kind\"");
  }
  if (const auto dataset = object.find("dataset"); dataset != object.end()) {
    DRIFTSCOPE_TRY(result.dataset, read_dataset_result(*dataset, where + ", dataset"));
  }
  return result;
}

Result<TargetResult> read_verified(const json& object, LayerLists& lists, const std::string& where) {
  TargetResult result;
  DRIFTSCOPE_TRY(result.verification, read_verification(object, lists, where));
  result.target = result.verification->target.empty() ? "file/trace" : result.verification->target;
  return result;
}

std::string format_of(const json& object) {
  if (!object.is_object()) return {};
  const auto found = object.find("format");
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

Result<std::vector<TargetResult>> read_comparison(std::string_view text) {
  LayerLists lists(text);
  const json& object = lists.rest();
  std::vector<TargetResult> targets;
  if (object.is_array()) {
    for (const json& one : object) {
      if (format_of(one) != "driftscope-verify-1")
        return bad_input(fmt::format("entry {}: \"format\" is not driftscope-verify-1", targets.size()));
      DRIFTSCOPE_TRY(TargetResult target, read_verified(one, lists, fmt::format("entry {}", targets.size())));
      targets.push_back(std::move(target));
    }
    if (targets.empty()) return bad_input("an empty array contains no comparison");
    return targets;
  }
  const std::string format = format_of(object);
  if (format == "driftscope-verify-1") {
    DRIFTSCOPE_TRY(TargetResult target, read_verified(object, lists, "verify"));
    targets.push_back(std::move(target));
    return targets;
  }
  if (format != "driftscope-compare-1")
    return bad_input(
        "expected the JSON of `driftscope compare --json` or `verify --json` (\"format\": "
        "\"driftscope-compare-1\" or \"driftscope-verify-1\")" +
        (format.empty() ? std::string() : ", got \"" + format + "\""));
  if (!object.contains("left") || !object.contains("right") || !object["right"].is_array())
    return bad_input("driftscope-compare-1: \"left\" or \"right\" is missing");
  DRIFTSCOPE_TRY(TargetResult left, read_target(object["left"], lists, "left"));
  targets.push_back(std::move(left));
  for (const json& right : object["right"]) {
    DRIFTSCOPE_TRY(TargetResult target,
                   read_target(right, lists, fmt::format("right[{}]", targets.size() - 1)));
    targets.push_back(std::move(target));
  }
  return targets;
}

}  // namespace driftscope
