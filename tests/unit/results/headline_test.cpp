// The sentence about a comparison.
#include "core/results/headline.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace driftscope::test::headline_test {
namespace {

TargetOutcome left() {
  TargetOutcome outcome;
  outcome.target = "pc/strict";
  outcome.verdict = Verdict::rounding;
  outcome.time = {.ns = 1e6, .kind = TimeKind::unwatched};
  return outcome;
}

TargetOutcome right(const std::string& name, bool differs, double time_ns = 0) {
  TargetOutcome outcome;
  outcome.target = name;
  outcome.verdict = Verdict::rounding;
  outcome.compared = true;
  outcome.differs = differs;
  outcome.same_answer = true;
  outcome.time = {.ns = time_ns, .kind = TimeKind::unwatched};
  return outcome;
}

}  // namespace

TEST_CASE("Headline_AllIsRounding_IsOneSentence") {
  const std::vector<TargetOutcome> outcomes = {left(), right("chrome/ort", true, 6'000'000),
                                               right("pc/fast", true, 500'000)};
  CHECK(comparison_headline(outcomes) ==
        "2 targets agree with pc/strict within rounding, same answer; slowest chrome/ort, 6 × pc/strict");
}

TEST_CASE("Headline_TimesOfAnotherKind_AreNotSetBesideTheLeftOne") {
  TargetOutcome watched = right("chrome/ort", false, 6'000'000);
  watched.time.kind = TimeKind::watched;
  CHECK(comparison_headline(std::vector{left(), watched}) ==
        "chrome/ort agrees with pc/strict bit for bit, same answer");
  const TargetOutcome unwatched = right("pc/fast", false, 2'000'000);
  CHECK(comparison_headline(std::vector{left(), watched, unwatched}) ==
        "2 targets agree with pc/strict bit for bit, same answer; takes 2 × pc/strict");
}

TEST_CASE("Headline_SameBits_SaysSo") {
  CHECK(comparison_headline(std::vector{left(), right("a", false), right("b", false)}) ==
        "2 targets agree with pc/strict bit for bit, same answer");
  CHECK(comparison_headline(std::vector{left(), right("a", false)}) ==
        "a agrees with pc/strict bit for bit, same answer");
  CHECK(comparison_headline(std::vector{left(), right("a", false), right("b", true)}) ==
        "2 targets agree with pc/strict within rounding, 1 of them bit for bit, same answer");
}

TEST_CASE("Headline_FaultsComeFirst_AndTheirTargetsDoNotAgree") {
  TargetOutcome fault = right("b", true);
  fault.verdict = Verdict::fault;
  fault.first_fault = "conv1";
  fault.first_suspect = "conv2";
  fault.same_answer = false;
  TargetOutcome same_fault = fault;
  same_fault.target = "c";
  same_fault.same_answer = true;
  CHECK(comparison_headline(std::vector{left(), right("a", true), fault, same_fault}) ==
        "fault at conv1 on b and c; b answers differently; a agrees with pc/strict within rounding");
}

TEST_CASE("Headline_NonfiniteOutputs_AreSaidBeforeAgreement") {
  TargetOutcome first = left();
  TargetOutcome second = right("a", false);
  first.nonfinite = second.nonfinite = "all 128 elements of y are NaN (first at norm)";
  second.same_answer = {};
  CHECK(comparison_headline(std::vector{first, second}) ==
        "all 128 elements of y are NaN (first at norm) on pc/strict and a; a agrees with pc/strict bit for "
        "bit");
  first.nonfinite.clear();
  CHECK(comparison_headline(std::vector{first, second}) ==
        "all 128 elements of y are NaN (first at norm) on a; a agrees with pc/strict bit for bit");
}

TEST_CASE("Headline_OneOfManyAnswers_IsCounted") {
  TargetOutcome other = right("b", true);
  other.same_answer = false;
  other.answers = {.kind = AnswerKind::tokens, .answers = 40, .different = 3};
  CHECK(comparison_headline(std::vector{left(), other}) ==
        "b answers differently in 3 of 40 tokens; b agrees with pc/strict within rounding");
  // Numbers and boxes have no answer that could be the same.
  other.same_answer = {};
  CHECK(comparison_headline(std::vector{left(), other}) == "b agrees with pc/strict within rounding");
}

TEST_CASE("Headline_UnjudgedAndMissing_AreNoAgreement") {
  TargetOutcome unjudged = right("a", true);
  unjudged.verdict = Verdict::unjudged;
  unjudged.unjudged = 2;
  TargetOutcome unknown = right("b", true);
  unknown.verdict = Verdict::identical;  // of the layers that were judged
  unknown.unverified = true;
  unknown.same_answer = {};
  TargetOutcome failed;
  failed.target = "c";
  failed.failed = true;
  CHECK(comparison_headline(std::vector{left(), unjudged, unknown, failed}) ==
        "b differs from pc/strict, not judged; 2 layers not judged on a; c failed");
}

TEST_CASE("Headline_DataSet_CountsTheOtherAnswers") {
  TargetOutcome all = right("a", true);
  all.samples = all.same_samples = 450;
  CHECK(comparison_headline(std::vector{left(), all}) ==
        "a agrees with pc/strict within rounding, same answer to all 450 samples");
  TargetOutcome some = all;
  some.same_samples = 447;
  CHECK(comparison_headline(std::vector{left(), some}) ==
        "a answers 3 of 450 samples differently; a agrees with pc/strict within rounding, same answer");
}

TEST_CASE("Headline_Nothing_IsNoSentenceAboutAgreement") {
  CHECK(comparison_headline({}) == "nothing was compared");
  CHECK(comparison_headline(std::vector{left()}) == "nothing was compared");
}

}  // namespace driftscope::test::headline_test
