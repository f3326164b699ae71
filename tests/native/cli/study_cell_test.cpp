// A cell of a study for another process: the request both ways, hostile ones, and answers that are moved to
// where the cell's samples are, or refused.
#include "native/cli/study_cell.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "core/base/json.hpp"
#include "core/base/sha256.hpp"
#include "native/os/files.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope::test::study_cell_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* study_text =
    R"({"format":"driftscope-study-1","name":"small","title":"Small","about":"",
"models":[{"name":"net","path":"net.onnx","variants":[{"name":"int8","path":"int8.onnx"}],
"data":[{"name":"original","source":"idx:a,b"},{"name":"other","source":"idx:c,d"}]}],
"targets":["pc/strict","pc/fast"],
"attacks":[{"name":"fgsm","method":"fgsm","epsilon":0.1,"seed":5,"models":["net"],
"transfer":true,"on":"pc/fast"},
{"name":"pixel","method":"single-pixel","steps":5,"models":["net"]}],
"layers":[{"name":"VI","title":"t","model":"net","sample":7,
"layers":[{"layer":"conv","value":"first:Conv","columns":["0"],"rows":[]}]}]})";

struct Small {
  documents::Study study;
  StudyFiles files;
  explicit Small(const fs::path& out) {
    auto read = read_study(study_text);
    REQUIRE_MESSAGE(read.ok(), read.error().message);
    study = *std::move(read);
    for (StudySubject& subject : subjects_of(study))
      files.subjects.push_back({std::move(subject), ModelFile(), std::vector<GivenDataset>(2)});
    files.targets = {Target{"pc", "strict", {}}, Target{"pc", "fast", {}}};
    files.out = out;
  }
  [[nodiscard]] StudyCellRequest request(const StudyCell& cell) const {
    return study_cell_request(study, files, cell,
                              std::vector<std::int64_t>(static_cast<std::size_t>(cell.samples), 1),
                              {"pc/strict (here)", "pc/fast (here)"});
  }
};

nlohmann::json request_json() {
  const Small small("out");
  return parse_json(study_cell_text(
      small.request({.task = StudyTask::attack, .target = 1, .of = 1, .begin = 20, .samples = 3})));
}

std::string refusal(const std::function<void(nlohmann::json& request)>& change) {
  nlohmann::json request = request_json();
  change(request);
  const auto read = read_study_cell(json_text(request));
  return read.ok() ? std::string() : read.error().message;
}

std::string answer_of(const nlohmann::json& result, const std::string& bytes = {}) {
  return json_text(nlohmann::json{{"result", result}, {"seconds", 1.5}}) + "\n" + bytes;
}

}  // namespace

TEST_CASE("StudyCellRequest_BothWays_HasWhatTheCellNeedsAlone") {
  const Small small("out");
  for (const StudyCell& cell :
       {StudyCell{.task = StudyTask::answers, .subject = 1, .target = 1, .of = 1, .begin = 8, .samples = 4},
        StudyCell{.task = StudyTask::attack, .target = 1, .of = 1, .begin = 20, .samples = 3},
        StudyCell{.task = StudyTask::adversarials, .target = 1, .begin = 10, .samples = 2},
        StudyCell{.task = StudyTask::layers, .target = 1, .samples = 1},
        StudyCell{.task = StudyTask::layers, .target = 0, .samples = 1},
        StudyCell{.task = StudyTask::times, .subject = 1, .target = 0, .samples = 1, .repetition = 3}}) {
    const auto read = read_study_cell(study_cell_text(small.request(cell)));
    REQUIRE_MESSAGE(read.ok(), read.error().message);
    CHECK(read->task == cell.task);
    CHECK(read->study.targets[read->target] == small.study.targets[cell.target]);
    CHECK(std::ssize(read->labels) == cell.samples);
    CHECK(read->study.models.front().variants.empty());
    // The program itself is on every machine.
    for (const std::string& name : read->names) CHECK(name.empty());
  }
  const auto attack = read_study_cell(study_cell_text(
      small.request({.task = StudyTask::adversarials, .target = 1, .begin = 10, .samples = 2})));
  REQUIRE(attack.ok());
  CHECK(attack->study.attacks.front().seed == 15);  // each sample keeps its random numbers
  CHECK(attack->study.attacks.front().on == "pc/fast");
  const auto layers =
      read_study_cell(study_cell_text(small.request({.task = StudyTask::layers, .target = 1, .samples = 1})));
  REQUIRE(layers.ok());
  CHECK(layers->study.targets == std::vector<std::string>{"pc/strict", "pc/fast"});
  CHECK(layers->target == 1);
}

TEST_CASE("StudyCellRequest_OtherHosts_AreNamedWithTheirVersion") {
  Small small("out");
  small.files.targets[1].host = "chrome";
  const StudyCellRequest request = small.request({.task = StudyTask::layers, .target = 1, .samples = 1});
  CHECK(request.names == std::vector<std::string>{"", "pc/fast (here)"});
}

TEST_CASE("StudyCellRequest_Hostile_IsRefused") {
  CHECK(refusal([](auto&) {}).empty());
  for (const char* const key : {"format", "task", "target", "labels", "names", "study"}) {
    CAPTURE(key);
    CHECK(refusal([&](auto& request) { request.erase(key); }).find(key) != std::string::npos);
    CHECK_FALSE(refusal([&](auto& request) { request[key] = true; }).empty());
  }
  CHECK_FALSE(refusal([](auto& request) { request["format"] = "driftscope-study-1"; }).empty());
  CHECK(refusal([](auto& request) { request["task"] = "format"; }).find("unknown") != std::string::npos);
  CHECK_FALSE(refusal([](auto& request) { request["task"] = "times"; }).empty());
  CHECK_FALSE(refusal([](auto& request) { request["task"] = "adversarials"; }).empty());
  CHECK_FALSE(refusal([](auto& request) { request["target"] = 1; }).empty());
  CHECK_FALSE(refusal([](auto& request) { request["target"] = -1; }).empty());
  CHECK_FALSE(refusal([](auto& request) { request["labels"] = nlohmann::json::array(); }).empty());
  CHECK_FALSE(refusal([](auto& request) { request["names"].push_back("x"); }).empty());
  const auto study = [](const char* path, const nlohmann::json& value) {
    return refusal([&](auto& request) { request["study"][nlohmann::json::json_pointer(path)] = value; });
  };
  CHECK(study("/models/0/name", "../net").find("models[0].name") != std::string::npos);
  CHECK(study("/attacks/0/name", "../../pixel").find("attacks[0].name") != std::string::npos);
  CHECK_FALSE(study("/models/0/data/1", {{"name", "more"}, {"source", "idx:a,b"}}).empty());
  CHECK_FALSE(study("/models/0/variants", {{{"name", "int8"}, {"path", "x"}}}).empty());
  CHECK_FALSE(
      study("/models/0/data/0", {{"name", "made"}, {"generated", {{"method", "deephunter"}}}}).empty());
  CHECK_FALSE(study("/attacks/0/seed", -3).empty());
  CHECK_FALSE(study("/targets/0", "nowhere").empty());
  for (const char* const text : {"", "[]", "{", "{\"study\":{}}"}) CHECK_FALSE(read_study_cell(text).ok());
}

TEST_CASE("StudyCellAnswer_PartOfASeries_IsMovedToItsPlace") {
  const auto folder = TempFolder::make();
  REQUIRE(folder.ok());
  const Small small(folder->path());
  const StudyCell answers{.task = StudyTask::answers, .begin = 40, .samples = 2};
  const std::vector<std::int64_t> labels = {3, 4};
  // Labels are ours, whatever comes back.
  const auto read = read_study_answer(answer_of({{"begin", 0}, {"labels", {9, 9}}, {"predictions", {3, 5}}}),
                                      answers, labels, small.study, small.files);
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(read->seconds == 1.5);
  CHECK(read->result["begin"] == 40);
  CHECK(read->result["labels"] == nlohmann::json({3, 4}));
  CHECK(read->result["predictions"] == nlohmann::json({3, 5}));

  const std::string bytes = "pictures";
  nlohmann::json made = {{"begin", 0},
                         {"samples", 2},
                         {"originals", {1}},
                         {"labels", {9}},
                         {"successes", 1},
                         {"queries", 7},
                         {"seconds", 0.5},
                         {"file", "../../elsewhere.npy"},
                         {"sha256", sha256_hex(std::as_bytes(std::span(bytes)))}};
  const StudyCell making{.task = StudyTask::adversarials, .target = 1, .begin = 40, .samples = 2};
  const auto kept = read_study_answer(answer_of(made, bytes), making, labels, small.study, small.files);
  REQUIRE_MESSAGE(kept.ok(), kept.error().message);
  CHECK(kept->result["originals"] == nlohmann::json({41}));
  CHECK(kept->result["labels"] == nlohmann::json({4}));
  // The name is ours as well.
  CHECK(kept->result["file"] == "adversarials/net-fgsm/000040.npy");
  CHECK(fs::file_size(folder->path() / "adversarials/net-fgsm/000040.npy") == bytes.size());
  made["sha256"] = std::string(64, '0');
  CHECK_FALSE(read_study_answer(answer_of(made, bytes), making, labels, small.study, small.files).ok());
}

TEST_CASE("StudyCellAnswer_Hostile_IsRefused") {
  const Small small("out");
  const StudyCell cell{.task = StudyTask::answers, .begin = 40, .samples = 2};
  const auto read = [&](const std::string& answer) {
    return read_study_answer(answer, cell, {3, 4}, small.study, small.files);
  };
  CHECK_FALSE(read("").ok());
  CHECK_FALSE(read("{}\n").ok());
  CHECK_FALSE(read("[]\n").ok());
  CHECK_FALSE(read(answer_of(nlohmann::json::array())).ok());
  CHECK_FALSE(read(answer_of({{"begin", 0}, {"labels", {1}}, {"predictions", {1}}})).ok());
  CHECK_FALSE(read(answer_of({{"begin", 1}, {"labels", {1, 2}}, {"predictions", {1, 2}}})).ok());
  CHECK_FALSE(read("{\"result\":{},\"seconds\":-1}\n").ok());
  // What failed there is the cell's result.
  const auto failed = read(answer_of({{"error", "no such operator"}}));
  REQUIRE(failed.ok());
  CHECK(failed->result["error"] == "no such operator");
}

}  // namespace driftscope::test::study_cell_test
