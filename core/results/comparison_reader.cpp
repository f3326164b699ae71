#include "core/results/comparison_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "core/base/json.hpp"
#include "core/base/json_lists.hpp"
#include "core/base/text.hpp"
#include "core/results/verify_reader.hpp"
#include "generated/documents/compare.hpp"

namespace driftscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view compare_format = "driftscope-compare-1";
constexpr std::string_view verify_format = "driftscope-verify-1";

constexpr std::array<std::string_view, 5> places_of_layers = {
    "layers", "left.verify.layers", "right.verify.layers", "left.layers", "right.layers"};
constexpr std::size_t first_place_of_differences = 3;

Status read_difference(const Json& value, const JsonPath& path, LayerDifference& layer) {
  DRIFTSCOPE_CHECK(read_json(value, path, layer));
  JsonFields fields(value, path);
  // How earlier versions say it.
  bool unrecorded = !fields.has("place") && layer.reason.starts_with("not recorded");
  fields.optional("unrecorded", unrecorded);
  layer.recorded = !unrecorded;
  if (fields.ok() && layer.shape.size() > max_rank)
    fields.fail(JsonPath(path, "shape")
                    .error(fmt::format("expected at most {} sizes, got {}", max_rank, layer.shape.size())));
  return std::move(fields).status();
}

/// The layers of one list, each read as soon as it is parsed: all of them as JSON would take gigabytes.
struct LayerList {
  std::vector<LayerVerdict> verdicts;
  std::vector<LayerDifference> differences;
  std::string suite;                 ///< of the budgets beside the verdicts
  std::optional<std::string> error;  ///< of the first bad layer; those after it are not read
};

/// All lists of layers of a text, and the rest of it as JSON.
class LayerLists {
 public:
  static Result<LayerLists> parse(std::string_view text) {
    LayerLists made;
    DRIFTSCOPE_TRY(made.rest_, parse_json_lists(text, places_of_layers,
                                                [&](std::size_t list, std::size_t place, const Json& entry) {
                                                  made.add(list, place, entry);
                                                }));
    return made;
  }

  [[nodiscard]] const Json& rest() const { return rest_; }

  /// The list that stood in an object, moved out.
  Result<LayerList> take(const Json& object, const JsonPath& above) {
    const JsonPath path(above, "layers");
    const auto layers = object.find("layers");
    if (layers == object.end()) return above.error("\"layers\" is missing");
    const auto number = list_number(*layers);
    if (!number && layers->is_array()) return path.error("expected objects alone");
    if (!number) return path.expected("a list", *layers);
    if (*number >= lists_.size()) return LayerList();  // empty, with no list after it
    if (lists_[*number].error) return bad_input(path.text() + *lists_[*number].error);
    return std::move(lists_[*number]);
  }

 private:
  void add(std::size_t number, std::size_t place, const Json& entry) {
    if (number >= lists_.size()) lists_.resize(number + 1);
    LayerList& list = lists_[number];
    if (list.error) return;
    const bool difference = place >= first_place_of_differences;
    const JsonPath root;
    const JsonPath path(root, difference ? list.differences.size() : list.verdicts.size());
    Status read = difference ? read_difference(entry, path, list.differences.emplace_back())
                             : read_layer(entry, path, list.verdicts.emplace_back(), list.suite);
    if (!read.ok()) list.error = read.error().message;
  }

  std::vector<LayerList> lists_;
  Json rest_;
};

Status read_verification(const Json& value, LayerLists& lists, const JsonPath& path,
                         std::optional<Verification>& verification) {
  DRIFTSCOPE_CHECK(driftscope::read_verification(value, path, verification.emplace()));
  DRIFTSCOPE_TRY(LayerList list, lists.take(value, path));
  verification->layers = std::move(list.verdicts);
  verification->budgets = std::move(list.suite);
  return {};
}

Status read_differences(JsonFields& fields, const Json& value, LayerLists& lists, Comparison& comparison) {
  fields.optional("first_divergence", comparison.first_divergence);
  DRIFTSCOPE_TRY(LayerList list, lists.take(value, fields.path()));
  comparison.layers = std::move(list.differences);
  fields.optional("output", comparison.output);
  documents::Peak peak;
  fields.optional("memory", peak);
  comparison.peak_bytes = peak.peak_bytes;
  comparison.peak_kind = std::move(peak.kind);
  return {};
}

Status read_dataset(const Json& value, const JsonPath& path, DatasetResult& result) {
  documents::DatasetResult read;
  DRIFTSCOPE_CHECK(read_json(value, path, read));
  for (const std::int64_t count : {read.correct.value_or(0), read.agree.value_or(0)})
    if (count < 0 || count > read.samples)
      return path.error(fmt::format("{} of {} samples", count, read.samples));
  if (std::ssize(read.predictions) > read.samples)
    return path.error(fmt::format("{} predictions of {} samples", read.predictions.size(), read.samples));
  result = {read.samples, read.correct.value_or(-1), std::move(read.predictions), read.agree.value_or(-1)};
  return {};
}

/// What ran: a trace without tensors.
Status read_run(JsonFields& fields, const TargetResult& result, Trace& trace) {
  const Json& run = *fields.find("ran");
  if (!run.is_object()) return JsonPath(fields.path(), "ran").expected("an object", run);
  trace.run = json_text(run);
  trace.target = result.target;
  if (result.verification) trace.model_sha256 = result.verification->model_sha256;
  if (fields.has("peak_memory")) fields.required("peak_memory", trace.memory.emplace_back());
  return {};
}

Status read_target(const Json& value, LayerLists& lists, const JsonPath& path, TargetResult& result) {
  JsonFields fields(value, path);
  fields.required("target", result.target);
  if (fields.has("error")) {
    Error& error = result.error.emplace(Error{ErrorKind::bad_input, {}});
    fields.required("error", error.message);
    if (fields.has("error_kind")) fields.required_name("error_kind", error.kind, error_kind_named);
  }
  fields.optional("time", result.stored_time);
  if (!fields.ok()) return std::move(fields).status();
  if (const Json* const verify = fields.given("verify"))
    DRIFTSCOPE_CHECK(read_verification(*verify, lists, JsonPath(path, "verify"), result.verification));
  if (fields.has("layers")) {
    DRIFTSCOPE_CHECK(read_differences(fields, value, lists, result.comparison.emplace()));
    result.comparison->target = result.target;
  }
  if (const Json* const dataset = fields.given("dataset"))
    DRIFTSCOPE_CHECK(read_dataset(*dataset, JsonPath(path, "dataset"), result.dataset.emplace()));
  if (fields.has("ran")) DRIFTSCOPE_CHECK(read_run(fields, result, result.trace.emplace()));
  return std::move(fields).status();
}

/// An object, kept as the text that a view has of it.
void read_object(JsonFields& fields, std::string_view key, std::string& text) {
  const Json* const value = fields.given(key);
  if (value == nullptr) return;
  if (value->is_object())
    text = json_text(*value);
  else
    fields.fail(JsonPath(fields.path(), key).expected("an object", *value));
}

Status read_head(const Json& value, const JsonPath& path, ComparisonView& view) {
  JsonFields fields(value, path);
  fields.optional("model", view.model_name);
  fields.optional("model_sha256", view.model_sha256);
  fields.optional("input", view.input_text);
  fields.optional("input_label", view.input_label);
  fields.optional("dataset", view.dataset_text);
  fields.optional("command", view.command);
  fields.optional("build", view.build);
  read_object(fields, "machine", view.machine);
  fields.optional("class_names", view.class_names);
  fields.optional("notes", view.notes);
  read_object(fields, "gate", view.gate);
  return std::move(fields).status();
}

/// Earlier versions did not say where a layer stands: then they are in the order in which they come.
void number_layers(ComparisonView& view) {
  std::unordered_map<std::string_view, std::size_t> places;
  for (TargetResult& right : view.right) {
    if (!right.comparison) continue;
    for (LayerDifference& layer : right.comparison->layers)
      if (layer.place == 0) layer.place = places.emplace(layer.output, places.size() + 1).first->second;
  }
}

Status read_compared(const Json& value, LayerLists& lists, ComparisonView& view) {
  const JsonPath root;
  DRIFTSCOPE_CHECK(read_head(value, root, view));
  const auto left = value.find("left");
  if (left == value.end()) return root.error("\"left\" is missing");
  DRIFTSCOPE_CHECK(read_target(*left, lists, JsonPath(root, "left"), view.left));
  const auto right = value.find("right");
  if (right == value.end()) return root.error("\"right\" is missing");
  const JsonPath rights(root, "right");
  if (!right->is_array()) return rights.expected("a list", *right);
  for (std::size_t i = 0; i < right->size(); ++i)
    DRIFTSCOPE_CHECK(read_target((*right)[i], lists, JsonPath(rights, i), view.right.emplace_back()));
  number_layers(view);
  return {};
}

Status read_verified(const Json& value, LayerLists& lists, const JsonPath& path, TargetResult& result) {
  DRIFTSCOPE_CHECK(read_verification(value, lists, path, result.verification));
  result.target = result.verification->target.empty() ? "file/trace" : result.verification->target;
  return {};
}

std::string format_of(const Json& object) {
  if (!object.is_object()) return {};
  const auto found = object.find("format");
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Error other_format(const JsonPath& path, std::string_view expected, const std::string& got) {
  return path.error(fmt::format("expected the JSON of {}, got {}", expected,
                                got.empty() ? "no \"format\"" : "\"format\": " + in_quotes(got)));
}

Status read_list(const Json& list, LayerLists& lists, ComparisonView& view) {
  const JsonPath root;
  if (list.empty()) return bad_input("an empty list contains no comparison");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const JsonPath path(root, i);
    if (const std::string format = format_of(list[i]); format != verify_format)
      return other_format(path, "`driftscope verify --json`", format);
    DRIFTSCOPE_CHECK(read_verified(list[i], lists, path, i == 0 ? view.left : view.right.emplace_back()));
  }
  return {};
}

}  // namespace

Result<ComparisonView> read_comparison(std::string_view text) {
  DRIFTSCOPE_TRY(LayerLists lists, LayerLists::parse(text));
  const Json& document = lists.rest();
  ComparisonView view;
  if (document.is_array()) {
    DRIFTSCOPE_CHECK(read_list(document, lists, view));
    return view;
  }
  const std::string format = format_of(document);
  if (format == verify_format)
    DRIFTSCOPE_CHECK(read_verified(document, lists, JsonPath(), view.left));
  else if (format == compare_format)
    DRIFTSCOPE_CHECK(read_compared(document, lists, view));
  else
    return other_format(JsonPath(), "`driftscope compare --json` or `driftscope verify --json`", format);
  return view;
}

}  // namespace driftscope
