// Which findings of a hunt are alike, and its summary.
#include "core/hunt/judged.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/unit/verify/verified.hpp"

namespace driftscope::test::hunt_judged_test {
namespace {

const hunt::HuntTargets targets{{"pc/ort (1.30)", "chrome/ort (156)"}, {"pc/ort", "chrome/ort"}};

std::string cell(const std::string& outcome, const std::string& reason = "",
                 const std::vector<documents::HuntFound>& found = {}) {
  return encode(documents::HuntCase{
                    .outcome = outcome, .of = "Conv, of normal", .reason = reason, .found = found})
      .dump();
}

documents::HuntFound finding(const std::string& key) {
  documents::HuntFound found;
  found.kind = "fault";
  found.key = key;
  found.op = "Conv";
  found.text = "wrong";
  return found;
}

}  // namespace

TEST_CASE("HuntJudged_NumbersAndQuotedNames_AreTheSame") {
  CHECK(hunt::without_particulars("the last 3 of 17 columns") ==
        hunt::without_particulars("the last 12 of 4 columns"));
  CHECK(hunt::without_particulars("node 'n3' failed") == hunt::without_particulars("node 'y' failed"));
  CHECK(hunt::without_particulars("row 3") != hunt::without_particulars("column 3"));
  CHECK(hunt::without_particulars("isn't 4") == "isn't #");
  CHECK(hunt::without_particulars("").empty());
}

TEST_CASE("HuntJudged_WrongLayer_KeyHasOperatorAndExtent") {
  const auto found_at = [](const std::vector<float>& y) {
    const ModelBuilder model =
        ModelBuilder().input("x", DType::float32, {2, 8}).node("Floor", {"x"}, {"y"}).output("y");
    const Tensor x = tensor<float>({2, 8}, std::vector<float>(16, 1.5f));
    return hunt::found_in(built(model), verified(model, {{"x", x}, {"y", tensor<float>({2, 8}, y)}}));
  };
  std::vector<float> y(16, 1.0f);
  CHECK(found_at(y).empty());
  y[7] = y[15] = 40.0f;
  const auto column = found_at(y);
  REQUIRE(column.size() == 1);
  CHECK(column[0].kind == "fault");
  CHECK(column[0].op == "Floor");
  CHECK(column[0].key == "Floor: in places");
  y[7] = 1.0f;
  const auto element = found_at(y);
  REQUIRE(element.size() == 1);
  CHECK(element[0].key == column[0].key);
  CHECK(element[0].text != column[0].text);
  y[3] = std::nanf("");
  const auto nan = found_at(y);
  REQUIRE(nan.size() == 1);
  CHECK(nan[0].key == "Floor: in places, NaN");
  y = {9, 8, 7, 6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 1};
  const auto all = found_at(y);
  REQUIRE(all.size() == 1);
  CHECK(all[0].key == "Floor: throughout");
}

TEST_CASE("HuntJudged_AttributesThatAreWords_AreInTheKey") {
  const auto key_of = [](const std::string& padding) {
    const ModelBuilder model = ModelBuilder()
                                   .input("x", DType::float32, {1, 1, 2, 2})
                                   .input("grid", DType::float32, {1, 1, 2, 2})
                                   .node("GridSample", {"x", "grid"}, {"y"},
                                         {{"padding_mode", padding}, {"align_corners", std::int64_t{1}}})
                                   .output("y");
    const auto found =
        hunt::found_in(built(model), verified(model, {{"x", tensor<float>({1, 1, 2, 2}, {1, 2, 3, 4})},
                                                      {"grid", tensor<float>({1, 1, 2, 2}, {0, 0, 1, 1})},
                                                      {"y", tensor<float>({1, 1, 1, 2}, {2.5f, 9.0f})}}));
    REQUIRE(found.size() == 1);
    return found[0].key;
  };
  CHECK(key_of("border") == "GridSample(padding_mode=border): in places");
  CHECK(key_of("zeros") == "GridSample(padding_mode=zeros): in places");
}

TEST_CASE("HuntJudged_OtherShape_IsOneKind") {
  const ModelBuilder model =
      ModelBuilder().input("x", DType::float32, {2}).node("Floor", {"x"}, {"y"}).output("y");
  const auto found =
      hunt::found_in(built(model), verified(model, {{"x", tensor<float>({2}, {1.5f, 2.5f})},
                                                    {"y", tensor<float>({3}, {1.0f, 2.0f, 3.0f})}}));
  REQUIRE(found.size() == 1);
  CHECK(found[0].key == "Floor: type or shape");
}

TEST_CASE("HuntJudged_GroupWithAWrongNode_IsThatNodesFinding") {
  documents::HuntFound group = finding("Conv+Floor: in places");
  group.op = "Conv+Floor";
  group.node = "f";
  documents::HuntFound node = finding("Conv: in places");
  node.node = "c";
  const auto narrowed = hunt::narrowed({group}, {node});
  REQUIRE(narrowed.size() == 1);
  CHECK(narrowed[0].key == node.key);

  // The operator alone decides, not a part of its name; and what only a run without watching shows is kept.
  node.op = "Con";
  const auto both = hunt::narrowed({group}, {node});
  REQUIRE(both.size() == 2);
  CHECK(both[0].key == group.key);
  CHECK(both[0].text == "wrong; right when every value is watched");
  CHECK(hunt::narrowed({group}, {}).size() == 1);

  // A browser that ended is not run again.
  documents::HuntFound lost = finding("lost: Conv+Floor, of normal");
  lost.kind = "lost";
  lost.op = "Conv+Floor, of normal";
  CHECK_FALSE(hunt::is_group(lost));
  CHECK(hunt::is_group(group));

  // A layer that is wrong in both runs counts once.
  node.op = "Conv";
  documents::HuntFound later = finding("Conv: throughout");
  later.node = "c";
  const auto once = hunt::narrowed({node}, {later});
  REQUIRE(once.size() == 1);
  CHECK(once[0].key == node.key);
}

TEST_CASE("HuntJudged_ErrorsOfTheDevice_AreOneFindingOfTheRun") {
  const ModelBuilder model = ModelBuilder()
                                 .input("x", DType::float32, {2})
                                 .node("Floor", {"x"}, {"y"})
                                 .node("Ceil", {"y"}, {"z"})
                                 .output("z");
  const Tensor wrong = tensor<float>({2}, {9.0f, 7.5f});
  const auto verification = verified(
      model, {{"x", tensor<float>({2}, {1.5f, 2.5f})}, {"y", wrong}, {"z", tensor<float>({2}, {0, 0})}});
  CHECK(hunt::found_in(built(model), verification).size() == 2);
  const auto found = hunt::found_in(built(model), verification, {"errors of WebGPU: 3, the first: vec5"});
  REQUIRE(found.size() == 1);
  CHECK(found[0].op == "Floor");
  CHECK(found[0].key == "errors of WebGPU: #, the first: vec#");
  CHECK(found[0].text.starts_with("errors of WebGPU: 3, the first: vec5; "));
}

TEST_CASE("HuntJudged_Summary_CountsAlikeOnce") {
  CampaignResults results;
  results[{"pc/ort (1.30)", hunt::case_name(0)}] = cell("right");
  results[{"pc/ort (1.30)", hunt::case_name(1)}] = cell("wrong", "", {finding("a"), finding("a")});
  results[{"pc/ort (1.30)", hunt::case_name(2)}] = cell("wrong", "", {finding("a"), finding("b")});
  results[{"pc/ort (1.30)", hunt::case_name(3)}] = cell("refused", "no Conv of 5 dimensions");
  results[{"pc/ort (1.30)", hunt::case_name(4)}] = cell("refused", "no Conv of 6 dimensions");
  results[{"pc/ort (1.30)", hunt::case_name(5)}] = cell("failed", "out of memory");
  results[{"chrome/ort (156)", hunt::case_name(2)}] = cell("wrong", "", {finding("a")});
  results[{"of another run", hunt::case_name(0)}] = cell("wrong", "", {finding("c")});
  documents::Hunt found;
  found.seed = 9;
  REQUIRE(hunt::summarize(results, targets, found).ok());
  REQUIRE(found.targets.size() == 2);
  CHECK(found.targets[0].right == 1);
  CHECK(found.targets[0].wrong == 2);
  CHECK(found.targets[0].refused == 2);
  CHECK(found.targets[0].failed == 1);
  CHECK(found.targets[1].wrong == 1);
  REQUIRE(found.findings.size() == 3);
  CHECK(found.findings[0].target == "pc/ort");
  CHECK(found.findings[0].times == 2);
  CHECK(found.findings[0].first == "9/00000001");
  CHECK(found.findings[2].target == "chrome/ort");
  REQUIRE(found.refusals.size() == 2);
  CHECK(found.refusals[0].times == 2);
  CHECK(found.refusals[1].failed);
  CHECK(hunt::hunt_text(found).find("3 findings") != std::string::npos);
}

TEST_CASE("HuntJudged_DamagedResult_IsNamed") {
  CampaignResults results;
  results[{"pc/ort (1.30)", hunt::case_name(3)}] = R"({"outcome": 4})";
  documents::Hunt found;
  const Status status = hunt::summarize(results, targets, found);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().message.starts_with("the result of 00000003 on pc/ort (1.30)"));
}

}  // namespace driftscope::test::hunt_judged_test
