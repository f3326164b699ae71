// read_baseline: the file comes from a repository, so it may have been edited by hand.
#include <fmt/format.h>

#include <cmath>

#include "core/base/json.hpp"
#include "core/base/json_walk.hpp"
#include "core/base/text.hpp"
#include "core/checks/baseline.hpp"

namespace driftscope {
namespace {

using BaselineJson = nlohmann::json;

constexpr std::size_t largest_file = std::size_t{16} << 20;
constexpr int deepest_baseline = 8;  // the format needs 5
constexpr std::string_view family = "driftscope-baseline-";
constexpr std::string_view current = "driftscope-baseline-1";

Error wrong_field(std::string_view field, std::string_view expected, const BaselineJson& got) {
  return bad_input(fmt::format("{}: expected {}, got {}", field, expected,
                               got.is_discarded() ? "nothing" : got.type_name()));
}

BaselineJson field_of(const BaselineJson& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? BaselineJson(BaselineJson::value_t::discarded) : *found;
}

Result<std::string> text_of(const BaselineJson& object, const char* key) {
  const BaselineJson value = field_of(object, key);
  if (!value.is_string()) return wrong_field(key, "a text", value);
  const auto& text = value.get_ref<const std::string&>();
  if (!printable(text)) return bad_input(fmt::format("{} contains control characters", key));
  return text;
}

Result<std::int64_t> whole_of(const BaselineJson& object, const char* key, std::int64_t max) {
  const BaselineJson value = field_of(object, key);
  if (!value.is_number_integer() || value < 0 || value > max)
    return wrong_field(key, fmt::format("a whole number from 0 to {}", max), value);
  return value.get<std::int64_t>();
}

Result<double> number_of(const BaselineJson& object, const char* key) {
  const BaselineJson value = field_of(object, key);
  if (!value.is_number() || !std::isfinite(value.get<double>())) return wrong_field(key, "a number", value);
  return value.get<double>();
}

Result<BaselineJson> list_of(const BaselineJson& object, const char* key) {
  BaselineJson value = field_of(object, key);
  if (!value.is_array()) return wrong_field(key, "an array", value);
  return value;
}

Result<KnownLayer> known_layer(const BaselineJson& object) {
  if (!object.is_object()) return wrong_field("known", "objects", object);
  KnownLayer layer;
  DRIFTSCOPE_TRY(layer.node, text_of(object, "node"));
  DRIFTSCOPE_TRY(layer.output, text_of(object, "output"));
  DRIFTSCOPE_TRY(const std::string verdict, text_of(object, "verdict"));
  if (const auto named = verdict_named(verdict); named && concern_of(*named) != Concern::none) {
    layer.verdict = *named;
    return layer;
  }
  std::vector<std::string_view> names;
  for (const VerdictRow& row : verdict_rows)
    if (row.concern != Concern::none) names.push_back(row.name);
  return bad_input(
      fmt::format("verdict: expected one of {}, got {}", fmt::join(names, ", "), in_quotes(verdict)));
}

Result<BaselineTarget> baseline_target(const BaselineJson& object) {
  if (!object.is_object()) return wrong_field("targets", "objects", object);
  BaselineTarget target;
  DRIFTSCOPE_TRY(target.target, text_of(object, "target"));
  DRIFTSCOPE_TRY(target.ran, text_of(object, "ran"));
  DRIFTSCOPE_TRY(target.outputs_sha256, text_of(object, "outputs_sha256"));
  DRIFTSCOPE_TRY(const BaselineJson known, list_of(object, "known"));
  for (const BaselineJson& one : known) {
    DRIFTSCOPE_TRY(KnownLayer layer, known_layer(one));
    target.known.push_back(std::move(layer));
  }
  DRIFTSCOPE_TRY(const BaselineJson best, list_of(object, "top1"));
  for (const BaselineJson& one : best) {
    if (!one.is_number_integer()) return wrong_field("top1", "whole numbers", one);
    target.top1.push_back(one.get<std::int64_t>());
  }
  DRIFTSCOPE_TRY(const BaselineJson medians, list_of(object, "medians_ns"));
  for (const BaselineJson& one : medians) {
    if (!one.is_number() || !(one.get<double>() > 0.0) || !std::isfinite(one.get<double>()))
      return wrong_field("medians_ns", "positive numbers", one);
    target.medians_ns.push_back(one.get<double>());
  }
  return target;
}

Status read_head(const BaselineJson& object, Baseline& baseline) {
  DRIFTSCOPE_TRY(const std::string format, text_of(object, "format"));
  if (format != current && format.starts_with(family))
    return unsupported(
        fmt::format("format is {}; this build reads {}: use a newer Driftscope, or save "
                    "the baseline again",
                    in_quotes(format), current));
  if (format != current)
    return bad_input(fmt::format("format: expected {}, got {}", current, in_quotes(format)));
  DRIFTSCOPE_TRY(baseline.model, text_of(object, "model"));
  DRIFTSCOPE_TRY(baseline.model_sha256, text_of(object, "model_sha256"));
  DRIFTSCOPE_TRY(baseline.build, text_of(object, "build"));
  DRIFTSCOPE_TRY(const BaselineJson inputs, list_of(object, "inputs"));
  for (const BaselineJson& one : inputs) {
    if (!one.is_string() || !printable(one.get_ref<const std::string&>()))
      return wrong_field("inputs", "printable texts", one);
    baseline.inputs.push_back(one.get<std::string>());
  }
  const BaselineJson machine = field_of(object, "machine");
  if (!machine.is_object()) return wrong_field("machine", "an object", machine);
  DRIFTSCOPE_TRY(baseline.machine.cpu, text_of(machine, "cpu"));
  DRIFTSCOPE_TRY(const std::int64_t cores, whole_of(machine, "cores", 1 << 20));
  baseline.machine.cores = static_cast<int>(cores);
  const BaselineJson measured = field_of(object, "measured");
  if (!measured.is_object()) return wrong_field("measured", "an object", measured);
  DRIFTSCOPE_TRY(const std::int64_t starts, whole_of(measured, "starts", 1000));
  baseline.starts = static_cast<int>(starts);
  DRIFTSCOPE_TRY(baseline.seconds, number_of(measured, "seconds"));
  return {};
}

Result<Baseline> baseline_from(std::span<const std::byte> bytes) {
  if (bytes.size() > largest_file)
    return limit_error(fmt::format("{} bytes, the limit is {}", bytes.size(), largest_file));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto object = walk_json(text, deepest_baseline).valid
                          ? parse_json(text)
                          : BaselineJson(BaselineJson::value_t::discarded);
  if (!object.is_object()) return bad_input("it is not a JSON object: truncated, or edited by hand?");
  Baseline baseline;
  DRIFTSCOPE_CHECK(read_head(object, baseline));
  DRIFTSCOPE_TRY(const BaselineJson targets, list_of(object, "targets"));
  for (const BaselineJson& one : targets) {
    auto target = baseline_target(one);
    if (!target.ok())
      return in_context(std::move(target).error(), fmt::format("targets[{}]", baseline.targets.size()));
    if (baseline.find(target->target) != nullptr)
      return bad_input(fmt::format("targets: {} occurs twice", in_quotes(target->target)));
    baseline.targets.push_back(*std::move(target));
  }
  if (baseline.targets.empty())
    return bad_input("targets: the list is empty, there is nothing to check against");
  return baseline;
}

}  // namespace

Result<Baseline> read_baseline(std::span<const std::byte> bytes) {
  auto baseline = baseline_from(bytes);
  if (!baseline.ok()) return in_context(std::move(baseline).error(), "baseline");
  return baseline;
}

}  // namespace driftscope
