// The results of attacks that were kept, and the page of them.
#include "core/report/attack_page.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "core/base/json.hpp"
#include "core/report/attack_charts.hpp"
#include "unit/support/model_builder.hpp"
#include "unit/support/text.hpp"

namespace driftscope::test::attack_page_test {
namespace {

using Arrays = std::map<std::string, Tensor>;

documents::Attack attack(const std::string& method) {
  documents::Attack made;
  made.model_sha256 = std::string(64, 'a');
  made.model = "net<b>.onnx";
  made.method = method;
  made.epsilon = 0.1;
  made.seed = 42;
  made.samples = 3;
  made.numbers = {4, 9, 11};
  made.labels = {1, 0, 1};
  for (const char* target : {"pc/strict", "chrome/fast:threads=2"}) {
    documents::AttackResult result;
    result.target = target;
    result.successes = 2;
    result.fooled = {4, 11};
    made.results.push_back(result);
  }
  made.transfer = {{"pc/strict", "chrome/fast:threads=2", 0.5, 2},
                   {"chrome/fast:threads=2", "pc/strict", 1.0, 2}};
  made.answers = {{"pc/strict", "pc/strict", {0, 0}}, {"pc/strict", "chrome/fast:threads=2", {0, 1}}};
  return made;
}

/// Samples of 1×2×2; the changed ones have one pixel more.
Arrays arrays() {
  std::vector<float> original(12, 0.25f);
  std::vector<float> changed = original;
  for (std::size_t i = 0; i < changed.size(); i += 4) changed[i] = 0.5f;
  return {{"originals.npy", tensor<float>({3, 1, 2, 2}, original)},
          {"pc-strict.npy", tensor<float>({3, 1, 2, 2}, changed)}};
}

Result<AttackResults> read(const std::string& json, const Arrays& files) {
  return read_attack_results(json, [&](const std::string& file) -> Result<std::optional<Tensor>> {
    const auto found = files.find(file);
    return found == files.end() ? std::optional<Tensor>() : std::optional(found->second);
  });
}

AttackResults results(const std::string& method) {
  auto made = read(json_text(encode(attack(method))), arrays());
  REQUIRE_MESSAGE(made.ok(), made.error().message);
  return *std::move(made);
}

std::string error_of(documents::Attack document, const Arrays& files = {}) {
  const auto made = read(json_text(encode(document)), files);
  return made.ok() ? "" : made.error().message;
}

}  // namespace

TEST_CASE("AttackResults_Examples_BeginWithThoseOnWhichTargetsDiffer") {
  const AttackResults made = results("fgsm");
  CHECK(made.sample_shape() == Shape{1, 2, 2});
  const std::vector<AttackExample> examples = made.examples(10);
  REQUIRE(examples.size() == 2);  // of the target whose array is there
  CHECK(examples[0].number == 11);
  CHECK(examples[0].targets_differ);
  CHECK(examples[0].label == 1);
  CHECK(examples[0].answers == std::vector<std::optional<std::int64_t>>{0, 1});
  CHECK(examples[1].number == 4);
  CHECK_FALSE(examples[1].targets_differ);
  CHECK(examples[1].changed[0] == 0.5f);
  CHECK(made.examples(1).size() == 1);
}

TEST_CASE("AttackResults_WhatDoesNotFit_IsRefused") {
  CHECK(holds(read("{}", {}).error().message, "driftscope-attack-1"));
  CHECK_FALSE(read("[1", {}).ok());
  documents::Attack bad = attack("fgsm");
  bad.numbers = {1};
  CHECK(holds(error_of(bad), "expected 3 numbers, one for each sample, got 1"));
  bad = attack("fgsm");
  bad.results[0].successes = 4;
  CHECK(holds(error_of(bad), "pc/strict: 4 successes of 3 samples"));
  CHECK(holds(error_of(attack("fgsm"), {{"originals.npy", tensor<float>({2, 2}, {1, 2, 3, 4})}}),
              "originals.npy: expected float32 with 3 samples"));
  Arrays files = arrays();
  files["pc-strict.npy"] = tensor<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  CHECK(holds(error_of(attack("fgsm"), files), "expected the shape of originals.npy, 3x1x2x2, got 3x2"));
}

TEST_CASE("Robustness_IsWhatIsLeftAfterEachAttack") {
  AttackResults other = results("bim");
  other.attack.results.pop_back();
  other.attack.results[0].successes = 0;
  const SurvivalRates made = survival_rates({results("fgsm"), other});
  CHECK(made.attacks == std::vector<std::string>{"fgsm, ε 0.1", "bim, ε 0.1"});
  REQUIRE(made.rates.size() == 2);
  CHECK(made.rates[0][0] == doctest::Approx(1.0 / 3.0));
  CHECK(made.rates[0][1] == 1.0);
  CHECK(std::isnan(made.rates[1][1]));
}

TEST_CASE("AdversarialPictures_EnlargeTheDifference") {
  const std::vector<float> original = {0.0f, 1.0f, 0.5f, 0.5f};
  const std::vector<float> changed = {0.1f, 0.95f, 0.5f, 0.5f};
  const AdversarialPictures made = adversarial_pictures(original, changed, {1, 2, 2});
  REQUIRE(made.difference.pixels.size() == 4);
  CHECK(made.largest == doctest::Approx(0.1));
  CHECK(made.enlarged == doctest::Approx(5.0));
  CHECK(made.original.pixels[1].r == 255);
  CHECK(made.difference.pixels[0].r == 255);  // the largest change
  CHECK(made.difference.pixels[1].r == 64);   // half of it, downwards
  CHECK(made.difference.pixels[2].r == 128);
  // Height × width × channels are the same picture; other shapes are none.
  CHECK(adversarial_pictures(original, changed, {2, 2, 1}).original.pixels == made.original.pixels);
  CHECK(adversarial_pictures(original, changed, {2, 2}).original.pixels == made.original.pixels);
  CHECK(adversarial_pictures(original, changed, {4}).original.pixels.empty());
  CHECK(adversarial_pictures(original, changed, {1, 4, 2}).original.pixels.empty());
}

TEST_CASE("AttackPage_ShowsSuccessRobustnessTransferAndExamples") {
  const std::string page = attack_page({results("fgsm"), results("bim"), results("boundary")});
  for (const char* part :
       {"Success by target", "Robustness: targets", "Transfer between targets", "Adversarial examples",
        "chrome/fast:threads=2", "66.7 % [20.8, 93.9], 2 of 3, too few", "data:image/bmp;base64,",
        "Sample 11", "difference × 2", "net&lt;b&gt;.onnx"}) {
    CAPTURE(part);
    CHECK(holds(page, part));
  }
  CHECK_FALSE(holds(page, "<script"));
  CHECK_FALSE(holds(page, "net<b>"));
  CHECK_FALSE(holds(attack_page({results("fgsm")}), "Robustness: targets"));
}

TEST_CASE("AttackPage_WordsAreListed") {
  AttackResults words = results("genetic");
  words.attack.words = true;
  const std::string page = attack_page({words});
  CHECK_FALSE(holds(page, "data:image"));
  CHECK(holds(page, "word 1: "));
}

}  // namespace driftscope::test::attack_page_test
