// What a cell's process is told.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/json.hpp"
#include "core/base/json_fields.hpp"
#include "core/base/json_lists.hpp"
#include "native/cli/result_store.hpp"
#include "native/cli/study_adversarials.hpp"
#include "native/cli/study_cell.hpp"
#include "native/cli/study_paces.hpp"

namespace driftscope {
namespace {

constexpr std::string_view cell_format = "driftscope-study-cell-1";
constexpr std::string_view study_format = "driftscope-study-1";
constexpr std::array<std::pair<StudyTask, std::string_view>, 5> task_names = {{
    {StudyTask::times, "times"},
    {StudyTask::answers, "answers"},
    {StudyTask::attack, "attack"},
    {StudyTask::adversarials, "adversarials"},
    {StudyTask::layers, "layers"},
}};

std::optional<StudyTask> task_named(std::string_view name) {
  for (const auto& [task, one] : task_names)
    if (one == name) return task;
  return {};
}

/// What a study of one cell must be beside a study.
Status check_request(const StudyCellRequest& request) {
  const documents::Study& study = request.study;
  const auto expect = [](bool right, std::string_view what) {
    return right ? Status() : Status(bad_input(fmt::format("a cell of a study: expected {}", what)));
  };
  DRIFTSCOPE_CHECK(expect(study.models.size() == 1 && study.models[0].variants.empty() &&
                              study.models[0].data.size() == 1 && !study.models[0].data[0].generated,
                          "one model with one data set"));
  DRIFTSCOPE_CHECK(expect(request.target < study.targets.size(), "a target of the study"));
  DRIFTSCOPE_CHECK(expect(request.names.size() == study.targets.size(), "a name for each target"));
  DRIFTSCOPE_CHECK(expect(!request.labels.empty(), "labels of samples"));
  const bool attacks = request.task == StudyTask::attack || request.task == StudyTask::adversarials;
  DRIFTSCOPE_CHECK(expect(study.attacks.size() == (attacks ? 1 : 0), "an attack where the task is one"));
  if (attacks)
    DRIFTSCOPE_CHECK(expect(study.attacks[0].transfer == (request.task == StudyTask::adversarials) &&
                                attacks_model(study.attacks[0], study.models[0].name),
                            "an attack on the model that fits the task"));
  const bool layers = request.task == StudyTask::layers;
  DRIFTSCOPE_CHECK(expect(study.layers.size() == (layers ? 1 : 0), "layers where the task is of such"));
  return expect(!layers || study.layers[0].sample.value_or(0) == 0, "layers of the first sample");
}

/// Each sample's random numbers come from the seed and its place, which is another one there.
documents::StudyAttack moved_attack(documents::StudyAttack attack, const StudyCell& cell,
                                    const documents::Study& of) {
  attack.models = {of.models[0].name};
  attack.hosts.clear();
  attack.on = attack.transfer ? of.targets[0] : std::string();
  attack.samples = cell.samples;
  attack.seed = static_cast<std::int64_t>(attack_seed(attack, cell.begin));
  return attack;
}

}  // namespace

std::string study_cell_text(const StudyCellRequest& request) {
  nlohmann::ordered_json study = {{"format", study_format}};
  study.update(encode(request.study));
  std::string_view task;
  for (const auto& [one, name] : task_names)
    if (one == request.task) task = name;
  const nlohmann::ordered_json document = {{"format", cell_format},    {"task", task},
                                           {"target", request.target}, {"labels", request.labels},
                                           {"names", request.names},   {"study", std::move(study)}};
  return json_text(document);
}

Result<StudyCellRequest> read_study_cell(std::string_view text) {
  DRIFTSCOPE_TRY(const nlohmann::ordered_json document, parse_document(text));
  if (!document.is_object()) return bad_input("a cell of a study: expected an object");
  StudyCellRequest request;
  const JsonPath root;
  JsonFields fields(document, root);
  std::string format;
  nlohmann::ordered_json study;
  fields.required("format", format);
  fields.required_name("task", request.task, task_named);
  fields.required("target", request.target);
  fields.required("labels", request.labels);
  fields.required("names", request.names);
  fields.required("study", study);
  DRIFTSCOPE_CHECK(std::move(fields).status());
  if (format != cell_format)
    return bad_input(
        fmt::format("format: expected \"{}\", got {}", cell_format, json_text(document["format"])));
  auto read = read_study(json_text(study));
  if (!read.ok()) return in_context(std::move(read).error(), "study");
  request.study = *std::move(read);
  DRIFTSCOPE_CHECK(check_request(request));
  return request;
}

StudyCellRequest study_cell_request(const documents::Study& study, const StudyFiles& files,
                                    const StudyCell& cell, std::vector<std::int64_t> labels,
                                    const std::vector<std::string>& stored_targets) {
  const StudySubject& subject = files.subjects[cell.subject].subject;
  StudyCellRequest request;
  request.task = cell.task;
  request.labels = std::move(labels);
  documents::Study& of = request.study;
  of.name = study.name;
  of.title = study.title;
  of.about = study.about;
  documents::StudyModel& model = of.models.emplace_back();
  model.name = subject.model;
  model.path = "model";
  model.data = {{.name = subject.data.front().name, .source = "samples", .generated = {}}};
  std::vector<std::size_t> targets = {cell.target};
  // Layers are compared with the study's first target, which runs beside.
  if (cell.task == StudyTask::layers && cell.target != 0) targets.insert(targets.begin(), 0);
  for (const std::size_t target : targets) {
    of.targets.push_back(study.targets[target]);
    request.names.push_back(names_elsewhere({files.targets[target]}, {stored_targets[target]}).front());
  }
  request.target = targets.size() - 1;
  if (is_attack(cell)) of.attacks = {moved_attack(study.attacks[cell.of], cell, of)};
  if (cell.task == StudyTask::layers) {
    of.layers = {study.layers[cell.of]};
    of.layers[0].model = model.name;
    of.layers[0].sample.reset();
  }
  return request;
}

}  // namespace driftscope
