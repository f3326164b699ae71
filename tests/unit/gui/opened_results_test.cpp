// Studies, attacks and curves from chosen files: what belongs together, and what is wrong with the rest.
#include "core/gui/opened_results.hpp"

#include <doctest/doctest.h>

#include "core/base/json.hpp"
#include "core/campaign/store_format.hpp"
#include "core/dataset/npy.hpp"
#include "unit/support/model_builder.hpp"
#include "unit/support/text.hpp"

namespace driftscope::test::opened_results_test {
namespace {

/// Files in memory, as a person chose them.
class Chosen {
 public:
  Chosen& file(std::string path, std::string text) {
    files_.emplace_back(std::move(path), std::move(text));
    return *this;
  }
  Chosen& array(std::string path, const Tensor& tensor) {
    const auto bytes = write_npy(tensor);
    REQUIRE(bytes.ok());
    return file(std::move(path), {reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  }
  [[nodiscard]] gui::OpenedResults open() const {
    std::vector<gui::ChosenFile> files;
    for (const auto& [path, text] : files_) files.push_back({path, std::as_bytes(std::span(text))});
    return gui::open_results(std::move(files));
  }

 private:
  std::vector<std::pair<std::string, std::string>> files_;
};

std::string study_text() {
  return R"({"format": "driftscope-study-1", "name": "s", "title": "S", "about": "", "targets": ["pc/strict"],
      "models": [{"name": "net", "path": "net.onnx", "data": [{"name": "d", "source": "idx:a"}]}]})";
}

std::string store_text() { return *header_line({"study", nlohmann::json::object(), "b"}) + "\n"; }

std::string attack_text(const std::string& method, const std::string& model = std::string(64, 'a')) {
  documents::Attack attack;
  attack.model_sha256 = model;
  attack.method = method;
  attack.samples = 2;
  attack.numbers = {3, 5};
  documents::AttackResult result;
  result.target = "pc/strict";
  result.successes = 1;
  result.fooled = {5};
  attack.results = {result};
  return json_text(encode(attack));
}

const std::string history = R"({"loss": [2, 1], "accuracy": [0.5, 0.75]})";

}  // namespace

TEST_CASE("OpenedResults_AStudyAnAttackAndCurves_AreFoundByTheirFolders") {
  const auto opened = Chosen()
                          .file("all/study/study.json", study_text())
                          .file("all/study/cells.jsonl", store_text())
                          .file("all/study/sizes.json", "[7]")
                          .file("all/fgsm/attack.json", attack_text("fgsm"))
                          .array("all/fgsm/originals.npy", tensor<float>({2, 1, 2}, {0, 0, 0, 0}))
                          .array("all/fgsm/pc-strict.npy", tensor<float>({2, 1, 2}, {0, 1, 1, 0}))
                          .file("all/bim/attack.json", attack_text("bim"))
                          .file("all/history.json", history)
                          .open();
  CHECK(opened.errors == std::vector<std::string>{});
  REQUIRE(opened.study);
  CHECK(opened.study->study().name == "s");
  REQUIRE(opened.attacks.size() == 2);
  CHECK(opened.attacks[0].attack.method == "bim");
  CHECK_FALSE(opened.attacks[0].originals);  // not those of the other attack
  REQUIRE(opened.attacks[1].originals);
  CHECK(opened.attacks[1].examples(9).size() == 1);
  REQUIRE(opened.curves);
  CHECK(opened.curves->curves.size() == 2);
  CHECK(opened.curves->curves[0].run == "history");
}

TEST_CASE("OpenedResults_AGeneration_IsKnownByItsFormat") {
  documents::Generate results;
  results.model = "decoder.onnx";
  results.reference = "pc/strict";
  results.targets.emplace_back().target = "pc/strict";
  const std::string text = json_text(encode(results));
  const auto opened = Chosen().file("kept/generate.json", text).file("history.json", history).open();
  CHECK(opened.errors == std::vector<std::string>{});
  REQUIRE(opened.generation);
  CHECK(opened.generation->model == "decoder.onnx");
  REQUIRE(opened.curves);  // and it is none of these
  CHECK(opened.curves->curves.size() == 2);
  const auto bad = Chosen().file("g.json", R"({"format": "driftscope-generate-1", "model": 3})").open();
  REQUIRE(bad.errors.size() == 1);
  CHECK(bad.errors[0].starts_with("g.json: model: expected a string"));
  CHECK_FALSE(bad.any());
}

TEST_CASE("OpenedResults_FilesWithoutFolders_BelongTogetherAsWell") {
  const auto opened = Chosen()
                          .array("originals.npy", tensor<float>({2, 1, 2}, {0, 0, 0, 0}))
                          .file("mine.json", attack_text("fgsm"))
                          .file("table.csv", "epoch,loss\n1,2\n2,1\n")
                          .open();
  CHECK(opened.errors.empty());
  REQUIRE(opened.attacks.size() == 1);
  CHECK(opened.attacks[0].originals);
  REQUIRE(opened.curves);
  CHECK(opened.curves->curves[0].run == "table");
}

TEST_CASE("OpenedResults_WhatCannotBeUsed_SaysWhatWasExpectedAndTheRestOpens") {
  const auto only = [](const std::string& path, const std::string& text) {
    const auto opened = Chosen().file(path, text).file("good.csv", "epoch,loss\n1,2\n2,1\n").open();
    CHECK(opened.curves);
    REQUIRE(opened.errors.size() == 1);
    CHECK(opened.errors[0].starts_with(path.substr(0, path.find('/'))));
    return opened.errors[0];
  };
  CHECK(holds(only("study.json", study_text()), "cells.jsonl and sizes.json are missing"));
  CHECK(holds(only("a/cells.jsonl", "nothing"), "study.json and sizes.json are missing"));
  CHECK(holds(only("a/attack.json", R"({"format": "driftscope-attack-1"})"), "a/attack.json: "));
  CHECK(holds(only("x.npy", "\x93NUMPY"), "expected attack.json"));
  CHECK(holds(only("x.json", R"({"format": "driftscope-compare-1"})"),
              "'driftscope-compare-1'; expected a study"));
  CHECK(holds(only("x.json", "{}"), "expected the history of Keras"));
  CHECK(holds(only("x.bin", ""), "not a file of training curves (0 bytes"));
  CHECK(holds(only("t/training.json", R"({"format": "driftscope-training-1"})"), "optimizer"));
  CHECK_FALSE(gui::open_results({}).any());
}

TEST_CASE("OpenedResults_ADamagedStudyOrArray_IsNamed") {
  auto opened = Chosen()
                    .file("a/study.json", study_text())
                    .file("a/cells.jsonl", "nothing\n")
                    .file("a/sizes.json", "[7]")
                    .open();
  REQUIRE(opened.errors.size() == 1);
  CHECK(opened.errors[0].starts_with("a: cells.jsonl: "));
  opened = Chosen()
               .file("b/attack.json", attack_text("fgsm"))
               .array("b/originals.npy", tensor<float>({1, 1, 2}, {0, 0}))
               .open();
  REQUIRE(opened.errors.size() == 1);
  CHECK(holds(opened.errors[0], "originals.npy: expected float32 with 2 samples"));
  opened = Chosen().file("b/attack.json", attack_text("fgsm")).file("b/originals.npy", "\x93NUMPY\1").open();
  CHECK(holds(opened.errors.at(0), "b/originals.npy"));
}

TEST_CASE("OpenedResults_OneStudyAtATime") {
  Chosen chosen;
  for (const char* folder : {"a/", "b/"})
    chosen.file(folder + std::string("study.json"), study_text())
        .file(folder + std::string("cells.jsonl"), store_text())
        .file(folder + std::string("sizes.json"), "[7]");
  const auto opened = chosen.open();
  CHECK(opened.study);
  REQUIRE(opened.errors.size() == 1);
  CHECK(opened.errors[0].starts_with("b: one study"));
}

TEST_CASE("AttacksWith_CollectMethodsOfAModel") {
  const auto results = [](const std::string& method, char model) {
    return *read_attack_results(
        attack_text(method, std::string(64, model)),
        [](const std::string&) -> Result<std::optional<Tensor>> { return std::optional<Tensor>(); });
  };
  auto all = attacks_with({}, results("fgsm", 'a'));
  all = attacks_with(std::move(all), results("bim", 'a'));
  all = attacks_with(std::move(all), results("fgsm", 'a'));
  REQUIRE(all.size() == 2);
  CHECK(all[1].attack.method == "fgsm");
  CHECK(attacks_with(std::move(all), results("bim", 'b')).size() == 1);
}

}  // namespace driftscope::test::opened_results_test
