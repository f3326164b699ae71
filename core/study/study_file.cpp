#include "core/study/study_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/attack/attack.hpp"
#include "core/base/json.hpp"
#include "core/base/json_lists.hpp"
#include "core/base/text.hpp"
#include "core/runtime/target.hpp"
#include "core/study/claim.hpp"
#include "core/study/json_line.hpp"
#include "core/study/measure.hpp"

namespace driftscope {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view current = "driftscope-study-1";
constexpr std::int64_t most_repetitions = 1000;
constexpr std::size_t largest_file = std::size_t{4} << 20;

/// A study in which every field is there: its keys are those that exist.
documents::Study complete() {
  documents::Study study;
  documents::StudyModel& model = study.models.emplace_back();
  model.variants.emplace_back();
  model.data.emplace_back();
  study.targets.emplace_back();
  study.samples = 1;
  study.repetitions = 1;
  documents::PublishedTable& table = study.tables.emplace_back();
  table.note = "x";
  documents::PublishedRow& row = table.rows.emplace_back();
  row.of = row.host = row.why_not = "x";
  documents::StudyAttack& attack = study.attacks.emplace_back();
  attack.epsilon = 1.0;
  attack.steps = attack.samples = 1;
  study.claims.emplace_back().factor = 1.0;
  return study;
}

/// The path of a field that `known` does not have, "" where there is none.
std::string unknown_field(const ordered_json& given, const ordered_json& known, const std::string& path) {
  if (given.is_array() && known.is_array() && !known.empty()) {
    for (std::size_t i = 0; i < given.size(); ++i)
      if (auto found = unknown_field(given[i], known[0], fmt::format("{}[{}]", path, i)); !found.empty())
        return found;
  }
  if (!given.is_object() || !known.is_object()) return "";
  for (const auto& [key, value] : given.items()) {
    const std::string here = path.empty() ? key : path + "." + key;
    if (!known.contains(key)) return here;
    if (auto found = unknown_field(value, known[key], here); !found.empty()) return found;
  }
  return "";
}

std::string keys_of(const ordered_json& known, std::string_view path) {
  const ordered_json* at = &known;
  while (!path.empty() && path.find_first_of(".[") != std::string_view::npos) {
    const std::string_view key = path.substr(0, path.find_first_of(".["));
    at = &(*at)[std::string(key)];
    if (at->is_array()) at = &(*at)[0];
    const std::size_t dot = path.find('.');
    path = dot == std::string_view::npos ? "" : path.substr(dot + 1);
  }
  std::vector<std::string> keys;
  for (const auto& [key, value] : at->items()) keys.push_back(key);
  return fmt::format("{}", fmt::join(keys, ", "));
}

class Checks {
 public:
  explicit Checks(const documents::Study& study) : study_(study) {}

  /// The place of the first error, and the error.
  Status run() {
    DRIFTSCOPE_CHECK(models());
    DRIFTSCOPE_CHECK(targets());
    if (study_.samples && *study_.samples < 1)
      return bad_input(fmt::format("samples: expected at least 1, got {}", *study_.samples));
    if (study_.repetitions && (*study_.repetitions < 1 || *study_.repetitions > most_repetitions))
      return bad_input(
          fmt::format("repetitions: expected 1 to {}, got {}", most_repetitions, *study_.repetitions));
    for (std::size_t i = 0; i < study_.attacks.size(); ++i) DRIFTSCOPE_CHECK(attack(i));
    for (std::size_t i = 0; i < study_.tables.size(); ++i) DRIFTSCOPE_CHECK(table(i));
    for (std::size_t i = 0; i < study_.claims.size(); ++i) DRIFTSCOPE_CHECK(claim(i));
    return {};
  }

 private:
  Status models() {
    if (study_.models.empty()) return bad_input("models: the list is empty; name at least one model");
    std::set<std::string> names;
    for (std::size_t i = 0; i < study_.models.size(); ++i) {
      const documents::StudyModel& model = study_.models[i];
      const std::string at = fmt::format("models[{}]", i);
      DRIFTSCOPE_CHECK(name(at + ".name", model.name, names));
      if (model.data.empty())
        return bad_input(at + ".data: the list is empty; a model needs a data set with labels");
      std::set<std::string> data;
      for (std::size_t k = 0; k < model.data.size(); ++k)
        DRIFTSCOPE_CHECK(name(fmt::format("{}.data[{}].name", at, k), model.data[k].name, data));
      std::set<std::string> variants = {std::string(StudySubject::base_variant)};
      for (std::size_t k = 0; k < model.variants.size(); ++k)
        DRIFTSCOPE_CHECK(name(fmt::format("{}.variants[{}].name", at, k), model.variants[k].name, variants));
    }
    return {};
  }

  Status targets() {
    if (study_.targets.empty())
      return bad_input("targets: the list is empty; the first is what others are compared with");
    std::set<std::string> names;
    for (std::size_t i = 0; i < study_.targets.size(); ++i) {
      const std::string at = fmt::format("targets[{}]", i);
      const auto target = parse_target(study_.targets[i]);
      if (!target.ok()) return bad_input(fmt::format("{}: {}", at, target.error().message));
      if (!names.insert(target->text()).second)
        return bad_input(fmt::format("{}: {} occurs twice", at, in_quotes(target->text())));
    }
    return {};
  }

  Status attack(std::size_t i) {
    const documents::StudyAttack& attack = study_.attacks[i];
    const std::string at = fmt::format("attacks[{}]", i);
    DRIFTSCOPE_CHECK(name(at + ".name", attack.name, attacks_));
    const auto method = find_attack_method(attack.method);
    if (!method.ok()) return bad_input(fmt::format("{}.method: {}", at, method.error().message));
    if ((*method)->needs_epsilon &&
        !(attack.epsilon && *attack.epsilon > 0.0 && std::isfinite(*attack.epsilon)))
      return bad_input(fmt::format("{}.epsilon: {} needs a number above 0", at, attack.method));
    if (attack.steps.value_or(1) < 1 || attack.samples.value_or(1) < 1)
      return bad_input(fmt::format("{}: steps and samples are at least 1", at));
    for (std::size_t k = 0; k < attack.models.size(); ++k)
      DRIFTSCOPE_CHECK(model(fmt::format("{}.models[{}]", at, k), attack.models[k]));
    return {};
  }

  Status table(std::size_t i) {
    const documents::PublishedTable& table = study_.tables[i];
    const std::string at = fmt::format("tables[{}]", i);
    if (table.measures.size() != table.columns.size())
      return bad_input(fmt::format("{}.measures: expected one for each of the {} columns, got {}", at,
                                   table.columns.size(), table.measures.size()));
    for (std::size_t k = 0; k < table.measures.size(); ++k)
      if (const auto measure = parse_measure(table.measures[k]); !measure.ok())
        return bad_input(fmt::format("{}.measures[{}]: {}", at, k, measure.error().message));
    for (std::size_t k = 0; k < table.rows.size(); ++k) {
      const documents::PublishedRow& row = table.rows[k];
      if (row.cells.size() != table.columns.size())
        return bad_input(fmt::format("{}.rows[{}].cells: expected one for each of the {} columns, got {}", at,
                                     k, table.columns.size(), row.cells.size()));
      if (!row.of.empty()) DRIFTSCOPE_CHECK(model(fmt::format("{}.rows[{}].of", at, k), row.of));
    }
    return {};
  }

  Status claim(std::size_t i) {
    const documents::StudyClaim& claim = study_.claims[i];
    const std::string at = fmt::format("claims[{}]", i);
    if (claim.factor && !(*claim.factor > 0.0 && std::isfinite(*claim.factor)))
      return bad_input(fmt::format("{}.factor: expected a number above 0, got {}", at, *claim.factor));
    if (claim_table().find(claim.kind) == nullptr)
      return bad_input(fmt::format("{}.kind: {} is unknown; expected one of {}", at, in_quotes(claim.kind),
                                   claim_table().names()));
    for (std::size_t k = 0; k < claim.models.size(); ++k)
      DRIFTSCOPE_CHECK(model(fmt::format("{}.models[{}]", at, k), claim.models[k]));
    if (std::ranges::find(study_.targets, claim.left) == study_.targets.end())
      return bad_input(fmt::format("{}.left: {} is no target of the study: {}", at, in_quotes(claim.left),
                                   fmt::join(study_.targets, ", ")));
    return {};
  }

  Status model(const std::string& at, const std::string& wanted) {
    std::vector<std::string> names;
    for (const documents::StudyModel& one : study_.models) names.push_back(one.name);
    if (std::ranges::find(names, wanted) != names.end()) return {};
    return bad_input(
        fmt::format("{}: {} is no model of the study: {}", at, in_quotes(wanted), fmt::join(names, ", ")));
  }

  static Status name(const std::string& at, const std::string& name, std::set<std::string>& names) {
    if (name.empty() || name.find_first_of(" /:@#") != std::string::npos)
      return bad_input(fmt::format("{}: expected a name without spaces, '/', ':', '@' and '#', got {}", at,
                                   in_quotes(name)));
    if (!names.insert(name).second) return bad_input(fmt::format("{}: {} occurs twice", at, in_quotes(name)));
    return {};
  }

  const documents::Study& study_;
  std::set<std::string> attacks_;
};

/// "models[0].name: expected …" with its line.
Error with_line(std::string_view text, const Error& error) {
  const std::string_view message = error.message;
  const int line = json_line(text, message.substr(0, message.find(':')));
  return {error.kind, fmt::format("line {}: {}", line, message)};
}

}  // namespace

Result<documents::Study> read_study(std::string_view text) {
  if (text.size() > largest_file)
    return limit_error(fmt::format("{} bytes, the limit is {}", text.size(), largest_file));
  DRIFTSCOPE_TRY(const ordered_json document, parse_document(text));
  if (!document.is_object()) return bad_input("line 1: expected an object {…} with format, models, targets");
  const auto format = document.find("format");
  if (format == document.end() || *format != current)
    return with_line(text, bad_input(fmt::format("format: expected \"{}\", got {}", current,
                                                 format == document.end() ? "none" : json_text(*format))));
  ordered_json known = encode(complete());
  known["format"] = current;
  if (const std::string unknown = unknown_field(document, known, ""); !unknown.empty())
    return with_line(text, bad_input(fmt::format("{}: there is no such field; expected {}", unknown,
                                                 keys_of(known, unknown))));
  documents::Study study;
  if (Status read = read_json(document, JsonPath(), study); !read.ok()) return with_line(text, read.error());
  if (Status checked = Checks(study).run(); !checked.ok()) return with_line(text, checked.error());
  return study;
}

std::vector<StudySubject> subjects_of(const documents::Study& study) {
  std::vector<StudySubject> subjects;
  for (const documents::StudyModel& model : study.models) {
    subjects.push_back({model.name, std::string(StudySubject::base_variant), model.path, model.data});
    for (const documents::StudyVariant& variant : model.variants)
      subjects.push_back({model.name, variant.name, variant.path, model.data});
  }
  return subjects;
}

}  // namespace driftscope
