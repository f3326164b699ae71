#include "core/study/study_cells.hpp"

#include <fmt/format.h>

#include <charconv>

#include "core/base/json_fields.hpp"
#include "core/base/json_number.hpp"

namespace driftscope {

using nlohmann::json;
using nlohmann::ordered_json;

std::string answers_name(const StudySubject& subject, const documents::StudyData& data) {
  return fmt::format("answers {}/{}/{}", subject.model, subject.variant, data.name);
}

std::string attack_name(const StudySubject& subject, const documents::StudyAttack& attack) {
  return fmt::format("attack {}/{}/{}", subject.model, subject.variant, attack.name);
}

std::string adversarials_name(const std::string& model, const documents::StudyAttack& attack) {
  return fmt::format("adversarials {}/{}", model, attack.name);
}

std::string times_name(const StudySubject& subject) {
  return fmt::format("times {}/{}", subject.model, subject.variant);
}

std::string layers_name(const documents::PublishedLayers& layers) {
  return fmt::format("layers {}", layers.name);
}

std::string samples_cell(const std::string& name, std::int64_t begin, std::int64_t samples) {
  return fmt::format("{} @{}+{}", name, begin, samples);
}

std::string numbered_cell(const std::string& name, std::int64_t number) {
  return fmt::format("{} #{}", name, number);
}

CellName split_cell(std::string_view item) {
  // Names have neither of the two signs (study_file).
  const std::size_t at = item.find_last_of("@#");
  if (at == std::string_view::npos || at == 0 || item[at - 1] != ' ') return {item, -1};
  CellName cell{item.substr(0, at - 1), -1};
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(item.data() + at + 1, item.data() + item.size(), number);
  if (error == std::errc() && number >= 0) cell.number = number;
  return cell;
}

json encode_result(const AnswersPart& part) {
  json value = {{"begin", part.begin}, {"labels", part.labels}, {"predictions", part.predictions}};
  if (!part.outputs.empty()) {
    // As few digits as make the same float.
    json& outputs = value["outputs"] = json::array();
    for (const float one : part.outputs) {
      const auto short_form = json::parse(fmt::format("{}", one), nullptr, false);
      outputs.push_back(short_form.is_number() ? short_form : json(json_number(static_cast<double>(one))));
    }
  }
  return value;
}

json encode_result(const AttackPart& part) {
  return {{"begin", part.begin},
          {"samples", part.samples},
          {"attacked", part.attacked},
          {"successes", part.successes},
          {"queries", part.queries}};
}

json encode_result(const AdversarialsPart& part) {
  json value = {{"begin", part.begin},    {"samples", part.samples},     {"originals", part.originals},
                {"labels", part.labels},  {"successes", part.successes}, {"queries", part.queries},
                {"seconds", part.seconds}};
  if (!part.file.empty()) {
    value["file"] = part.file;
    value["sha256"] = part.sha256;
  }
  return value;
}

json encode_result(const SessionTimes& times) {
  json value = {{"median_s", times.median_s}, {"first_s", times.first_s}, {"load_s", times.load_s}};
  if (times.memory_bytes >= 0) {
    value["memory_bytes"] = times.memory_bytes;
    value["memory_kind"] = times.memory_kind;
  }
  return value;
}

json encode_result(const LayerValues& layers) {
  json values = json::array();
  for (const auto& layer : layers.values) {
    json& row = values.emplace_back(json::array());
    for (const std::optional<double>& one : layer) row.push_back(one ? json(json_number(*one)) : json());
  }
  return {
      {"sample", layers.sample},     {"values", std::move(values)},
      {"compared", layers.compared}, {"different", layers.different},
      {"first", layers.first},       {"first_difference", json(json_number(layers.first_difference))},
      {"largest", layers.largest},   {"largest_difference", json(json_number(layers.largest_difference))}};
}

json encode_failure(const Error& error) { return {{"error", error.message}}; }

Result<std::optional<std::string>> failure_in(const ordered_json& value) {
  std::optional<std::string> error;
  const JsonPath root;
  JsonFields fields(value, root);
  fields.optional("error", error);
  DRIFTSCOPE_CHECK(std::move(fields).status());
  return error;
}

Status read_result(const ordered_json& value, AnswersPart& part) {
  const JsonPath root;
  JsonFields fields(value, root);
  fields.required("begin", part.begin);
  fields.required("labels", part.labels);
  fields.required("predictions", part.predictions);
  std::vector<double> outputs;
  fields.optional("outputs", outputs);
  DRIFTSCOPE_CHECK(std::move(fields).status());
  part.outputs.assign(outputs.begin(), outputs.end());
  const std::size_t samples = part.predictions.size();
  if (samples == 0 || part.labels.size() != samples || part.outputs.size() % samples != 0)
    return bad_input("labels, predictions and outputs of different numbers of samples");
  return {};
}

Status read_result(const ordered_json& value, AttackPart& part) {
  const JsonPath root;
  JsonFields fields(value, root);
  fields.required("begin", part.begin);
  fields.required("samples", part.samples);
  fields.required("attacked", part.attacked);
  fields.required("successes", part.successes);
  fields.required("queries", part.queries);
  DRIFTSCOPE_CHECK(std::move(fields).status());
  if (part.samples < 1 || part.attacked < 0 || part.attacked > part.samples || part.successes < 0 ||
      part.successes > part.attacked || part.queries < 0)
    return bad_input("more successes than attacks, or more attacks than samples");
  return {};
}

Status read_result(const ordered_json& value, AdversarialsPart& part) {
  const JsonPath root;
  JsonFields fields(value, root);
  fields.required("begin", part.begin);
  fields.required("samples", part.samples);
  fields.required("originals", part.originals);
  fields.required("labels", part.labels);
  fields.required("successes", part.successes);
  fields.required("queries", part.queries);
  fields.required("seconds", part.seconds);
  fields.at_least("seconds", part.seconds, 0);
  fields.optional("file", part.file);
  fields.optional("sha256", part.sha256);
  DRIFTSCOPE_CHECK(std::move(fields).status());
  const auto attacked = std::ssize(part.originals);
  if (part.samples < 1 || attacked > part.samples || std::ssize(part.labels) != attacked ||
      part.successes < 0 || part.successes > attacked || part.queries < 0)
    return bad_input("more successes than attacks, or more attacks than samples");
  for (std::size_t i = 0; i < part.originals.size(); ++i)
    if (part.originals[i] < part.begin || part.originals[i] >= part.begin + part.samples ||
        (i > 0 && part.originals[i] <= part.originals[i - 1]))
      return bad_input("originals that are not among the samples, or not in their order");
  if (part.file.empty() != part.originals.empty() || part.file.empty() != part.sha256.empty())
    return bad_input("adversarials without a file, or a file without any");
  return {};
}

Status read_result(const ordered_json& value, SessionTimes& times) {
  const JsonPath root;
  JsonFields fields(value, root);
  fields.required("median_s", times.median_s);
  fields.at_least("median_s", times.median_s, 0);
  fields.required("first_s", times.first_s);
  fields.at_least("first_s", times.first_s, 0);
  fields.required("load_s", times.load_s);
  fields.at_least("load_s", times.load_s, 0);
  fields.optional("memory_bytes", times.memory_bytes);
  fields.optional("memory_kind", times.memory_kind);
  return std::move(fields).status();
}

Status read_result(const ordered_json& value, LayerValues& layers) {
  const JsonPath root;
  JsonFields fields(value, root);
  fields.required("sample", layers.sample);
  fields.required("compared", layers.compared);
  fields.required("different", layers.different);
  fields.required("first", layers.first);
  fields.required("first_difference", layers.first_difference);
  fields.required("largest", layers.largest);
  fields.required("largest_difference", layers.largest_difference);
  DRIFTSCOPE_CHECK(std::move(fields).status());
  const auto values = value.find("values");
  if (values == value.end() || !values->is_array()) return bad_input("values: expected a list of lists");
  for (const ordered_json& row : *values) {
    if (!row.is_array()) return bad_input("values: expected a list of lists");
    auto& read = layers.values.emplace_back();
    for (const ordered_json& one : row)
      read.push_back(one.is_number() ? std::optional(one.get<double>()) : std::nullopt);
  }
  return {};
}

}  // namespace driftscope
