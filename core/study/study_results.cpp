#include "core/study/study_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/json.hpp"
#include "core/base/json_fields.hpp"
#include "core/base/json_number.hpp"
#include "core/base/text.hpp"

namespace driftscope {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_sessions = 1000;  // of one subject on a target

Error damaged(const CampaignCell& cell, const std::string& why) {
  return bad_input(fmt::format("the result of {} on {} is damaged: {}; remove its line to have it run again",
                               in_quotes(cell.item), in_quotes(cell.target), why));
}

/// "@64+32" behind the name: where a part begins.
std::optional<std::int64_t> part_begin(std::string_view item, std::string_view name) {
  if (!item.starts_with(name)) return {};
  item.remove_prefix(name.size());
  if (!item.starts_with(" @")) return {};
  std::int64_t begin = -1;
  std::from_chars(item.data() + 2, item.data() + item.size(), begin);
  return begin < 0 ? std::nullopt : std::optional(begin);
}

std::string answers_name(const StudySubject& subject, const documents::StudyData& data) {
  return fmt::format("answers {}/{}/{}", subject.model, subject.variant, data.name);
}

Status read_part(const ordered_json& value, AnswersPart& part) {
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

Status read_part(const ordered_json& value, AttackPart& part) {
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

std::string attack_name(const StudySubject& subject, const documents::StudyAttack& attack) {
  return fmt::format("attack {}/{}/{}", subject.model, subject.variant, attack.name);
}

Status read_session(const ordered_json& value, SessionTimes& times) {
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

/// Why a cell has no result, where it has none.
Result<std::optional<std::string>> failure_in(const ordered_json& value) {
  std::optional<std::string> error;
  const JsonPath root;
  JsonFields fields(value, root);
  fields.optional("error", error);
  DRIFTSCOPE_CHECK(std::move(fields).status());
  return error;
}

class Reader {
 public:
  Reader(const documents::Study& study, const std::vector<std::string>& targets, const CampaignResults& cells)
      : study_(study), subjects_(subjects_of(study)), targets_(targets), cells_(cells) {}

  Result<StudyResults> read() {
    for (std::size_t t = 0; t < targets_.size(); ++t)
      for (std::size_t s = 0; s < subjects_.size(); ++s) {
        for (std::size_t d = 0; d < subjects_[s].data.size(); ++d) DRIFTSCOPE_CHECK(read_answers({s, d, t}));
        DRIFTSCOPE_CHECK(read_times({s, t}));
        for (std::size_t a = 0; a < study_.attacks.size(); ++a) DRIFTSCOPE_CHECK(read_attack({s, a, t}));
      }
    results_.bytes.assign(subjects_.size(), -1);
    return std::move(results_);
  }

 private:
  /// The parts of this name, by where they begin; what failed is `error`.
  template <class Part>
  Result<std::map<std::int64_t, Part>> read_parts(std::size_t target, const std::string& name,
                                                  std::optional<std::string>& error) {
    std::map<std::int64_t, Part> parts;
    // Names are sorted: those of this one follow each other.
    for (auto cell = cells_.lower_bound({targets_[target], name});
         cell != cells_.end() && cell->first.target == targets_[target]; ++cell) {
      const auto begin = part_begin(cell->first.item, name);
      if (!begin) {
        if (cell->first.item.starts_with(name)) continue;
        break;
      }
      const ordered_json value = ordered_json::parse(cell->second, nullptr, false);
      if (!value.is_object()) return damaged(cell->first, "no JSON object");
      DRIFTSCOPE_TRY(std::optional<std::string> failed, failure_in(value));
      if (failed) {
        error = std::move(failed);
        continue;
      }
      Part part;
      if (const Status read = read_part(value, part); !read.ok())
        return damaged(cell->first, read.error().message);
      parts[part.begin] = std::move(part);
    }
    return parts;
  }

  Status read_answers(const AnswersKey& key) {
    const StudySubject& subject = subjects_[key.subject];
    Answers& answers = results_.answers[key];
    DRIFTSCOPE_TRY(
        const auto parts,
        read_parts<AnswersPart>(key.target, answers_name(subject, subject.data[key.data]), answers.error));
    bool outputs = true;
    for (const auto& [begin, part] : parts) {
      if (begin != answers.samples()) break;
      const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
      append(answers.labels, part.labels);
      append(answers.predictions, part.predictions);
      append(answers.outputs, part.outputs);
      outputs = outputs && !part.outputs.empty();
    }
    if (!outputs) answers.outputs.clear();
    return {};
  }

  Status read_attack(const AttackKey& key) {
    AttackResult& result = results_.attacks[key];
    const std::string name = attack_name(subjects_[key.subject], study_.attacks[key.attack]);
    DRIFTSCOPE_TRY(const auto parts, read_parts<AttackPart>(key.target, name, result.error));
    AttackPart& sum = result.sum;
    for (const auto& [begin, part] : parts) {
      if (begin != sum.samples) break;
      sum.samples += part.samples;
      sum.attacked += part.attacked;
      sum.successes += part.successes;
      sum.queries += part.queries;
    }
    return {};
  }

  Status read_times(const TimesKey& key) {
    Times& times = results_.times[key];
    for (std::size_t i = 1; i <= most_sessions; ++i) {
      const auto cell = cells_.find(
          {targets_[key.target], times_cell(subjects_[key.subject], static_cast<std::int64_t>(i))});
      if (cell == cells_.end()) break;
      const ordered_json value = ordered_json::parse(cell->second, nullptr, false);
      if (!value.is_object()) return damaged(cell->first, "no JSON object");
      DRIFTSCOPE_TRY(times.error, failure_in(value));
      if (times.error) break;
      if (const Status read = read_session(value, times.sessions.emplace_back()); !read.ok())
        return damaged(cell->first, read.error().message);
    }
    return {};
  }

  const documents::Study& study_;
  const std::vector<StudySubject> subjects_;
  const std::vector<std::string>& targets_;
  const CampaignResults& cells_;
  StudyResults results_;
};

}  // namespace

std::int64_t Answers::correct() const {
  std::int64_t right = 0;
  for (std::size_t i = 0; i < predictions.size(); ++i) right += predictions[i] == labels[i] ? 1 : 0;
  return right;
}

std::string answers_cell(const StudySubject& subject, const documents::StudyData& data, std::int64_t begin,
                         std::int64_t samples) {
  return fmt::format("{} @{}+{}", answers_name(subject, data), begin, samples);
}

std::string attack_cell(const StudySubject& subject, const documents::StudyAttack& attack, std::int64_t begin,
                        std::int64_t samples) {
  return fmt::format("{} @{}+{}", attack_name(subject, attack), begin, samples);
}

std::string times_cell(const StudySubject& subject, std::int64_t repetition) {
  return fmt::format("times {}/{} #{}", subject.model, subject.variant, repetition);
}

nlohmann::json encode_result(const AnswersPart& part) {
  nlohmann::json value = {{"begin", part.begin}, {"labels", part.labels}, {"predictions", part.predictions}};
  if (!part.outputs.empty()) {
    // As few digits as make the same float.
    nlohmann::json& outputs = value["outputs"] = nlohmann::json::array();
    for (const float one : part.outputs) {
      const auto short_form = nlohmann::json::parse(fmt::format("{}", one), nullptr, false);
      outputs.push_back(short_form.is_number() ? short_form
                                               : nlohmann::json(json_number(static_cast<double>(one))));
    }
  }
  return value;
}

nlohmann::json encode_result(const AttackPart& part) {
  return {{"begin", part.begin},
          {"samples", part.samples},
          {"attacked", part.attacked},
          {"successes", part.successes},
          {"queries", part.queries}};
}

nlohmann::json encode_result(const SessionTimes& times) {
  nlohmann::json value = {{"median_s", times.median_s}, {"first_s", times.first_s}, {"load_s", times.load_s}};
  if (times.memory_bytes >= 0) {
    value["memory_bytes"] = times.memory_bytes;
    value["memory_kind"] = times.memory_kind;
  }
  return value;
}

nlohmann::json encode_failure(const Error& error) { return {{"error", error.message}}; }

Result<StudyResults> read_study_results(const documents::Study& study,
                                        const std::vector<std::string>& targets,
                                        const CampaignResults& cells) {
  return Reader(study, targets, cells).read();
}

}  // namespace driftscope
