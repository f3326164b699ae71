// What a cell's process answers, moved to where the cell's samples are.
#include <fmt/format.h>

#include "core/base/json_fields.hpp"
#include "core/base/json_lists.hpp"
#include "core/base/sha256.hpp"
#include "native/cli/study_adversarials.hpp"
#include "native/cli/study_cell.hpp"

namespace driftscope {
namespace {

using nlohmann::ordered_json;

struct Given {
  const StudyCell& cell;
  const std::vector<std::int64_t>& labels;
  const documents::Study& study;
  const StudyFiles& files;
  std::string_view bytes;  ///< behind the line
};

Error of_others(std::int64_t got, std::int64_t expected) {
  return bad_input(fmt::format("expected {} samples from 0 on, got {}", expected, got));
}

Result<nlohmann::json> moved_answers(const ordered_json& value, const Given& given) {
  AnswersPart part;
  DRIFTSCOPE_CHECK(read_result(value, part));
  if (part.begin != 0 || std::ssize(part.predictions) != given.cell.samples)
    return of_others(std::ssize(part.predictions), given.cell.samples);
  part.begin = given.cell.begin;
  part.labels = given.labels;
  return encode_result(part);
}

Result<nlohmann::json> moved_attack(const ordered_json& value, const Given& given) {
  AttackPart part;
  DRIFTSCOPE_CHECK(read_result(value, part));
  if (part.begin != 0 || part.samples != given.cell.samples)
    return of_others(part.samples, given.cell.samples);
  part.begin = given.cell.begin;
  return encode_result(part);
}

Result<nlohmann::json> moved_adversarials(const ordered_json& value, const Given& given) {
  AdversarialsPart part;
  DRIFTSCOPE_CHECK(read_result(value, part));
  if (part.begin != 0 || part.samples != given.cell.samples)
    return of_others(part.samples, given.cell.samples);
  part.begin = given.cell.begin;
  part.labels.clear();
  for (std::int64_t& original : part.originals) {
    part.labels.push_back(given.labels[static_cast<std::size_t>(original)]);
    original += given.cell.begin;
  }
  if (part.originals.empty()) return encode_result(part);
  const auto bytes = std::as_bytes(std::span(given.bytes));
  if (const std::string hash = sha256_hex(bytes); hash != part.sha256)
    return bad_input(fmt::format("the adversarials have the SHA-256 {}, expected {}", hash, part.sha256));
  DRIFTSCOPE_CHECK(keep_adversarials(given.files, given.files.subjects[given.cell.subject].subject,
                                     given.study.attacks[given.cell.of], bytes, part));
  return encode_result(part);
}

Result<nlohmann::json> moved_layers(const ordered_json& value, const Given& given) {
  LayerValues values;
  DRIFTSCOPE_CHECK(read_result(value, values));
  values.sample = given.study.layers[given.cell.of].sample.value_or(0);
  return encode_result(values);
}

Result<nlohmann::json> moved_times(const ordered_json& value) {
  SessionTimes times;
  DRIFTSCOPE_CHECK(read_result(value, times));
  return encode_result(times);
}

}  // namespace

Result<StudyCellAnswer> read_study_answer(std::string_view answer, const StudyCell& cell,
                                          const std::vector<std::int64_t>& labels,
                                          const documents::Study& study, const StudyFiles& files) {
  const std::size_t end = answer.find('\n');
  if (end == std::string_view::npos) return bad_input("expected a line of JSON");
  DRIFTSCOPE_TRY(const ordered_json document, parse_document(answer.substr(0, end)));
  StudyCellAnswer read;
  ordered_json result;
  const JsonPath root;
  JsonFields fields(document, root);
  fields.required("result", result);
  fields.required("seconds", read.seconds);
  fields.at_least("seconds", read.seconds, 0);
  DRIFTSCOPE_CHECK(std::move(fields).status());
  DRIFTSCOPE_TRY(const std::optional<std::string> failed, failure_in(result));
  if (failed) {
    read.result = encode_failure(bad_input(*failed));
    return read;
  }
  const Given given{cell, labels, study, files, answer.substr(end + 1)};
  const auto moved = [&]() -> Result<nlohmann::json> {
    switch (cell.task) {
      case StudyTask::answers: return moved_answers(result, given);
      case StudyTask::attack: return moved_attack(result, given);
      case StudyTask::adversarials: return moved_adversarials(result, given);
      case StudyTask::layers: return moved_layers(result, given);
      case StudyTask::times: break;
    }
    return moved_times(result);
  }();
  if (!moved.ok()) return moved.error();
  read.result = *moved;
  return read;
}

}  // namespace driftscope
