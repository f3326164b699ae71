// Views of targets that did not all record the same values.
#include <doctest/doctest.h>

#include "core/report/report.hpp"
#include "core/report/tables.hpp"
#include "core/results/layer_table.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::comparison_view_test {
namespace {

Graph graph() {
  ModelBuilder model;
  model.input("x", DType::float32, {2})
      .node("Relu", {"x"}, {"a"})
      .named("first")
      .node("Tanh", {"a"}, {"b"})
      .named("second")
      .node("Neg", {"b"}, {"y"})
      .named("third")
      .output("y");
  return built(model);
}

TargetResult target(const std::string& name, const std::vector<std::string>& recorded, float y) {
  TargetResult result;
  result.target = name;
  Trace trace;
  trace.target = name;
  for (const std::string& value : recorded)
    trace.tensors.push_back({value, tensor<float>({2}, {1.0f, value == "y" ? y : 2.0f})});
  result.trace = std::move(trace);
  return result;
}

ComparisonView view_of(TargetResult left, std::vector<TargetResult> right) {
  ComparisonView view;
  view.left = std::move(left);
  view.right = std::move(right);
  for (TargetResult& result : view.right) {
    auto comparison = compare(graph(), *view.left.trace, *result.trace);
    REQUIRE_MESSAGE(comparison.ok(), comparison.error().message);
    result.comparison = *std::move(comparison);
  }
  return view;
}

}  // namespace

TEST_CASE("ComparedLayers_OfTargetsThatRecordedOtherValues_AreAllThereInOrder") {
  const ComparisonView view =
      view_of(target("pc/fast", {"x", "y"}, 3.0f),
              {target("chrome/fast", {"x", "b", "y"}, 4.0f), target("chrome/ort", {"x", "a", "y"}, 3.0f)});
  const LayerTable layers(view);
  std::vector<std::string> outputs;
  for (const auto& layer : layers.rows()) outputs.push_back(layer.output);
  CHECK(outputs == std::vector<std::string>{"a", "b", "y"});
  CHECK(view.right[0].comparison->first_divergence == "third");
  CHECK(layers.cell(2, 1)[compared_metric("different_elements")] == 1.0);
  CHECK(layers.cell(2, 2)[compared_metric("different_elements")] == 0.0);
  CHECK(layers.cell(2, 2).verdict == Verdict::identical);
  CHECK(layers.tensor(0, 1) == nullptr);
}

TEST_CASE("CompareTable_LayerThatNoTargetRecorded_SaysSo") {
  const ComparisonView view = view_of(target("pc/strict", {"x", "a", "b", "y"}, 3.0f),
                                      {target("chrome/fast", {"x", "b", "y"}, 3.0f)});
  const std::string table = compare_table(view);
  const std::string first = table.substr(table.find("first"), table.find("second") - table.find("first"));
  CHECK(first.find("· not recorded") != std::string::npos);
  CHECK(table.substr(table.find("second")).find("= identical") != std::string::npos);
  CHECK(comparison_report(view).find("not recorded") != std::string::npos);
}

}  // namespace driftscope::test::comparison_view_test
