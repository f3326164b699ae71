// The map of a generation, what its places say, and reading one back.
#include "core/decode/generation_map.hpp"

#include <doctest/doctest.h>

#include "core/base/json.hpp"
#include "core/decode/read_generation.hpp"

namespace driftscope::test::generation_map_test {
namespace {

using documents::Generate;
using documents::GenerateStep;

GenerateStep step(std::string layers, std::int64_t token, std::int64_t reference, std::string flip = "") {
  GenerateStep made;
  made.layers = std::move(layers);
  made.token = token;
  made.reference_token = reference;
  made.flip = std::move(flip);
  made.verdict = made.layers.find('x') == std::string::npos ? "rounding" : "fault";
  made.margin = 0.25;
  return made;
}

Generate two_prompts() {
  Generate results;
  results.model = "decoder.onnx";
  results.reference = "pc/strict";
  results.tokens = {{3, "the"}, {5, "cat\n"}};
  auto& target = results.targets.emplace_back();
  target.target = "chrome/ort";
  target.layers = {"h0", "h1", "logits"};
  auto& first = target.sequences.emplace_back();
  first.steps = {step("=~~", 3, 3), step("=x~", 5, 3, "fault")};
  first.steps[1].first_fault = "conv";
  first.steps[1].moved = 0.5;
  first.steps[1].peak_bytes = 2048;
  auto& second = target.sequences.emplace_back();
  second.steps = {step("=~", -1, 3, "unjudged")};  // a layer that came later
  return results;
}

}  // namespace

TEST_CASE("GenerationMap_StepsOfAllPrompts_AreColumns") {
  const Generate results = two_prompts();
  const GenerationMap made = generation_map(results, results.targets[0], {});
  CHECK(made.map.rows == std::vector<std::string>{"h0", "h1", "logits"});
  REQUIRE(made.map.columns.size() == 3);
  CHECK(made.map.columns[1] == std::vector<Verdict>{Verdict::identical, Verdict::fault, Verdict::rounding});
  CHECK(made.map.columns[2][2] == Verdict::missing);
  REQUIRE(made.map.starts.size() == 2);
  CHECK(made.map.starts[1].column == 2);
  CHECK(made.map.marked == std::vector<std::size_t>{1, 2});
  CHECK(made.map.heads.empty());
  CHECK(made.columns[2].prompt == 1);
  CHECK(bad_layers(results.targets[0]) == 1);
}

TEST_CASE("GenerationMap_OnlyWrongLayers_KeepTheirNumbers") {
  const Generate results = two_prompts();
  const GenerationMap bad = generation_map(results, results.targets[0], {.only_bad = true});
  CHECK(bad.map.rows == std::vector<std::string>{"h1"});
  CHECK(bad.layers == std::vector<std::size_t>{1});
  const GenerationMap few = generation_map(results, results.targets[0], {.most_rows = 2});
  CHECK(few.layers.size() == 2);
  CHECK(few.left_out == 1);
}

TEST_CASE("GenerationMap_Heads_HaveTokensFlipsAndMemory") {
  const Generate results = two_prompts();
  const GenerationMap made = generation_map(results, results.targets[0], {.words = true});
  REQUIRE(made.map.heads.size() == 3);
  CHECK(made.map.heads[0].text == "'the'");
  CHECK(made.map.heads[0].instead.empty());
  CHECK(made.map.heads[0].level < 0.0);
  CHECK(made.map.heads[1].instead == "'the'");
  CHECK(made.map.heads[1].judged == Verdict::fault);
  CHECK(made.map.heads[1].level == 1.0);
  CHECK(made.map.heads[2].text == "NaN");
  CHECK(made.map.heads[2].judged == Verdict::unjudged);
  CHECK(made.map.bars == "memory ≤ 2.05 kB");
}

TEST_CASE("GenerationMap_StepText_SaysHowATokenWasJudged") {
  const Generate results = two_prompts();
  const std::string flipped = step_text(results, results.targets[0], {0, 1});
  for (const char* const part :
       {"prompt 0, step 1", "instead of 3 'the': fault", "moved by 0.5", "first fault at conv", "memory 2"})
    CHECK_MESSAGE(flipped.find(part) != std::string::npos, flipped);
  CHECK(step_text(results, results.targets[0], {0, 0}).find("as on pc/strict") != std::string::npos);
}

TEST_CASE("ReadGeneration_ItsJson_ComesBack_AndOtherIsRefused") {
  Generate results = two_prompts();
  std::swap(results.tokens[0], results.tokens[1]);  // as a file may have them
  const auto read = read_generation(json_text(encode(results)));
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(read->targets[0].sequences[0].steps[1].flip == "fault");
  CHECK(*read->targets[0].sequences[0].steps[1].peak_bytes == 2048);
  CHECK(read->tokens[0].token == 3);
  CHECK(read_generation("{").error().message.size() > 5);
  CHECK(
      read_generation(R"({"format": "driftscope-attack-1"})").error().message.find("driftscope-generate-1") !=
      std::string::npos);
  results.targets.clear();
  CHECK(read_generation(json_text(encode(results))).error().message ==
        "targets: expected at least one target, got none");
}

}  // namespace driftscope::test::generation_map_test
