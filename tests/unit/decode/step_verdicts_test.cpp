// The map of steps and layers, and why a token differs.
#include <doctest/doctest.h>

#include "core/decode/generation_text.hpp"
#include "core/decode/step_verdicts.hpp"

namespace driftscope::test::step_verdicts_test {
namespace {

Verification step_of(const std::vector<std::pair<std::string, Verdict>>& layers) {
  Verification step;
  for (const auto& [output, verdict] : layers) {
    LayerVerdict layer;
    layer.output = output;
    layer.verdict = verdict;
    step.layers.push_back(layer);
    step.verdict = worse_of(step.verdict, verdict);
  }
  return step;
}

/// Beside a reference that is right.
std::string_view cause(const FlipJudge& judge) { return flip_cause(Verdict::rounding, judge.worst()); }

}  // namespace

TEST_CASE("StepVerdicts_Marks_KeepTheirColumn") {
  std::vector<std::string> layers;
  CHECK(layer_marks(step_of({{"a", Verdict::identical}, {"b", Verdict::rounding}}), layers) == "=~");
  // Another order, one missing, one new.
  CHECK(layer_marks(step_of({{"b", Verdict::fault}, {"c", Verdict::suspect}}), layers) == ".x?");
  CHECK(layer_marks(step_of({{"a", Verdict::unjudged}, {"c", Verdict::rounding}}), layers) == "o.~");
  CHECK(layers == std::vector<std::string>{"a", "b", "c"});
  Verification constant = step_of({{"d", Verdict::identical}});
  constant.layers[0].constant = true;
  CHECK(layer_marks(constant, layers) == "...");
}

TEST_CASE("StepVerdicts_Flip_IsWhatItsLayersAre") {
  FlipJudge judge(true);
  judge.add(step_of({{"a", Verdict::identical}, {"b", Verdict::rounding}}));
  CHECK(cause(judge) == "rounding");
  judge.add(step_of({{"a", Verdict::unjudged}}));
  CHECK(cause(judge) == "unjudged");
  judge.add(step_of({{"a", Verdict::suspect}}));
  CHECK(cause(judge) == "fault");
  judge.add(step_of({{"a", Verdict::rounding}}));
  CHECK(cause(judge) == "fault");  // it is in the caches
}

TEST_CASE("StepVerdicts_Flip_MayBeTheReferencesFault") {
  CHECK(flip_cause(Verdict::fault, Verdict::rounding) == "fault");
  CHECK(flip_cause(Verdict::unjudged, Verdict::rounding) == "unjudged");
  CHECK(flip_cause(Verdict::unjudged, Verdict::suspect) == "fault");
  CHECK(flip_cause(Verdict::identical, Verdict::identical) == "rounding");
}

TEST_CASE("StepVerdicts_Flip_WithALayerThatCouldNotBeEvaluated_IsUnjudged") {
  FlipJudge judge(true);
  judge.add(step_of({{"a", Verdict::rounding}, {"b", Verdict::missing}}));
  CHECK(cause(judge) == "unjudged");
}

TEST_CASE("StepVerdicts_WithoutCaches_EarlierStepsDoNotCount") {
  FlipJudge judge(false);
  judge.add(step_of({{"a", Verdict::fault}}));
  CHECK(cause(judge) == "fault");
  judge.add(step_of({{"a", Verdict::rounding}}));
  CHECK(cause(judge) == "rounding");
  judge.add(step_of({}));
  CHECK(cause(judge) == "unjudged");
}

TEST_CASE("StepVerdicts_Text_ShowsFlipsAndBadLayers") {
  documents::Generate results;
  results.reference = "pc/strict";
  documents::GenerateTarget reference, other;
  reference.target = "pc/strict";
  other.target = "chrome/ort";
  other.layers = {"good", "wrong"};
  documents::GenerateStep step;
  step.token = 3;
  step.reference_token = 4;
  step.margin = 0.25;
  step.moved = 0.5;
  step.verdict = "fault";
  step.layers = "~x";
  step.first_fault = "node";
  step.flip = "fault";
  documents::GenerateSequence sequence;
  sequence.steps = {step};
  sequence.parts_at = 0;
  other.sequences = {sequence};
  reference.sequences = {{}};
  results.targets = {reference, other};
  const std::string text = generation_text(results);
  CHECK(
      text.find("chrome/ort, prompt 0, step 0: token 3 for 4: fault (a lead of 0.25, moved by 0.5; first at "
                "node)") != std::string::npos);
  CHECK(text.find("wrong") != std::string::npos);
  CHECK(text.find("good") == std::string::npos);
  CHECK(token_lines(results).find("prompt 0  chrome/ort  3\n") != std::string::npos);
}

}  // namespace driftscope::test::step_verdicts_test
