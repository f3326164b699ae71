#include "core/study/study_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/json.hpp"
#include "core/base/json_keys.hpp"
#include "core/base/json_lists.hpp"
#include "core/base/text.hpp"
#include "core/runtime/target.hpp"
#include "core/study/json_line.hpp"
#include "core/study/study_checks.hpp"

namespace driftscope {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view current = "driftscope-study-1";
constexpr std::size_t largest_file = std::size_t{4} << 20;

/// A study in which every field is there: its keys are those that exist.
documents::Study complete() {
  documents::Study study;
  documents::StudyModel& model = study.models.emplace_back();
  model.variants.emplace_back();
  documents::StudyGenerated& generated = model.data.emplace_back().generated.emplace();
  model.data.back().source = generated.criterion = generated.of = generated.engine = "x";
  generated.seed = 1;
  study.targets.emplace_back();
  study.samples = 1;
  study.repetitions = 1;
  documents::PublishedTable& table = study.tables.emplace_back();
  table.note = "x";
  documents::PublishedRow& row = table.rows.emplace_back();
  row.of = row.host = row.why_not = row.slip = "x";
  row.corrected = {"x"};
  documents::StudyAttack& attack = study.attacks.emplace_back();
  attack.epsilon = 1.0;
  attack.steps = attack.samples = attack.seed = 1;
  attack.transfer = true;
  attack.on = attack.store = "x";
  attack.hosts = {"x"};
  documents::PublishedLayers& layers = study.layers.emplace_back();
  layers.sample = 1;
  layers.note = "x";
  layers.layers.emplace_back().rows.push_back(row);
  documents::StudyClaim& claim = study.claims.emplace_back();
  claim.factor = 1.0;
  claim.attack = claim.variant = "x";
  return study;
}

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
  if (const Status keys = check_keys(document, known); !keys.ok()) return with_line(text, keys.error());
  documents::Study study;
  if (Status read = read_json(document, JsonPath(), study); !read.ok()) return with_line(text, read.error());
  if (Status checked = check_study(study); !checked.ok()) return with_line(text, checked.error());
  return study;
}

std::vector<StudySubject> subjects_of(const documents::Study& study) {
  std::vector<StudySubject> subjects;
  for (const documents::StudyModel& model : study.models) {
    StudySubject base{model.name, std::string(StudySubject::base_variant), model.path, model.data};
    for (std::size_t a = 0; a < study.attacks.size(); ++a) {
      if (!study.attacks[a].transfer || !attacks_model(study.attacks[a], model.name)) continue;
      base.data.push_back({study.attacks[a].name, "", {}});
      base.attacks.push_back(a);
    }
    subjects.push_back(base);
    for (const documents::StudyVariant& variant : model.variants) {
      base.variant = variant.name;
      base.path = variant.path;
      subjects.push_back(base);
    }
  }
  return subjects;
}

bool attacks_model(const documents::StudyAttack& attack, std::string_view model) {
  return std::ranges::find(attack.models, model) != attack.models.end();
}

bool attacks_target(const documents::StudyAttack& attack, std::string_view target) {
  const auto parsed = parse_target(target);
  return attack.hosts.empty() ||
         (parsed.ok() && std::ranges::find(attack.hosts, parsed->host) != attack.hosts.end());
}

std::size_t making_target(const documents::Study& study, const documents::StudyAttack& attack) {
  const auto found = std::ranges::find(study.targets, attack.on);
  return found == study.targets.end() ? 0 : static_cast<std::size_t>(found - study.targets.begin());
}

}  // namespace driftscope
