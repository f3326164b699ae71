#include <doctest/doctest.h>

#include "native/bench/plan.hpp"

namespace driftscope::test::plan_test {
namespace {

ModelFile lenet() {
  auto model = load_model_file(DRIFTSCOPE_SOURCE_DIR "/assets/models/lenet1.onnx");
  REQUIRE(model.ok());
  return *std::move(model);
}

BenchPlan plan_of(std::string_view targets) {
  BenchPlan plan;
  plan.targets = *parse_targets(targets);
  return plan;
}

std::vector<std::string> texts(const std::vector<PlannedRow>& rows) {
  std::vector<std::string> list;
  for (const PlannedRow& one : rows) list.push_back(one.row.target + " " + one.row.group);
  return list;
}

TEST_CASE("Plan_Lists_MakeEveryCombination") {
  BenchPlan plan = plan_of("pc/strict,chrome/fast");
  plan.threads = {1, 2};
  plan.batches = {1, 8};
  plan.captures = {"none", "all"};
  const auto rows = plan_rows(plan, lenet());
  REQUIRE(rows.ok());
  CHECK(rows->size() == 16);
  CHECK((*rows)[1].row.target == "chrome/fast:threads=1");
  CHECK((*rows)[1].row.base_name == "chrome/fast");
  CHECK((*rows)[1].target.options.at("threads") == "1");
  CHECK((*rows)[15].row.group == "batch=8,threads=2,trace=all");
}

TEST_CASE("Plan_TargetWithItsOwnThreads_IsOneRow") {
  BenchPlan plan = plan_of("pc/strict:threads=1,pc/reference");
  plan.threads = {1, 2};
  const auto rows = plan_rows(plan, lenet());
  REQUIRE(rows.ok());
  CHECK(texts(*rows) == std::vector<std::string>{"pc/strict:threads=1 batch=1",
                                                 "pc/reference:threads=1 batch=1,threads=1",
                                                 "pc/reference:threads=2 batch=1,threads=2"});
}

TEST_CASE("Plan_TargetTwice_IsRejected") {
  CHECK_FALSE(plan_rows(plan_of("pc/strict,pc/strict"), lenet()).ok());
  BenchPlan plan = plan_of("pc/strict,pc/strict:threads=1");
  plan.threads = {1};
  const auto rows = plan_rows(plan, lenet());
  REQUIRE_FALSE(rows.ok());
  CHECK(rows.error().message.find("twice") != std::string::npos);
}

TEST_CASE("Plan_OtherBuild_EveryTargetIsMeasuredThereToo") {
  BenchPlan plan = plan_of("pc/strict,chrome/fast");
  plan.other_build = OtherBuild{"old", "/old/driftscope", ""};
  const auto rows = plan_rows(plan, lenet());
  REQUIRE(rows.ok());
  REQUIRE(rows->size() == 4);
  CHECK((*rows)[0].row.reference.empty());
  CHECK((*rows)[0].build == nullptr);
  CHECK((*rows)[1].row.target == "pc/strict");
  CHECK((*rows)[1].row.reference == "old");
  CHECK((*rows)[1].build == &*plan.other_build);
  CHECK((*rows)[3].row.target == "chrome/fast");
}

TEST_CASE("Inputs_Batch_BindsTheSymbolicLeadingDimension") {
  BenchPlan plan = plan_of("pc/strict");
  const ModelFile model = lenet();
  CHECK(inputs_for_batch(plan, model, 1)->tensors[0].tensor.shape()[0] == 1);
  plan.batches = {5};
  const auto five = inputs_for_batch(plan, model, 5);
  REQUIRE(five.ok());
  CHECK(five->tensors[0].tensor.shape()[0] == 5);
}

TEST_CASE("Inputs_FixedBatch_SaysWhatToDo") {
  BenchPlan plan = plan_of("pc/strict");
  plan.batches = {4, 5};
  ModelFile model = lenet();
  model.graph.values[model.graph.inputs[0]].shape->front() = {4, ""};
  CHECK(inputs_for_batch(plan, model, 4).ok());
  const auto five = inputs_for_batch(plan, model, 5);
  REQUIRE_FALSE(five.ok());
  CHECK(five.error().message.find("symbolic") != std::string::npos);
  plan.inputs = {"x.npy"};
  CHECK_FALSE(inputs_for_batch(plan, model, 4).ok());
}

}  // namespace
}  // namespace driftscope::test::plan_test
