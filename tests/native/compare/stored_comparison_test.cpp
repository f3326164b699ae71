// Comparisons that really ran, as `compare --json` writes them: reading them loses nothing.
#include <doctest/doctest.h>

#include "core/base/json.hpp"
#include "core/checks/checks.hpp"
#include "core/report/tables.hpp"
#include "core/results/comparison_reader.hpp"
#include "core/results/view_json.hpp"
#include "native/bench/machine.hpp"
#include "native/compare/comparison_host.hpp"

namespace driftscope::test::stored_comparison_test {
namespace {

std::string asset(const std::string& path) { return std::string(DRIFTSCOPE_SOURCE_DIR) + "/assets/" + path; }

struct Quiet final : ComparisonListener {
  void on_progress(std::size_t, ComparisonStage, std::string_view, std::int64_t, std::int64_t) override {}
  void on_result(std::size_t) override {}
};

ComparisonView compared(const std::string& model_name, const std::string& dataset,
                        const std::vector<std::string>& targets) {
  const auto model = load_model_file(asset("models/" + model_name));
  REQUIRE_MESSAGE(model.ok(), model.error().message);
  ComparisonInputs inputs;
  if (!dataset.empty()) {
    auto read = read_dataset(dataset, *model);
    REQUIRE_MESSAGE(read.ok(), read.error().message);
    inputs.dataset = *std::move(read);
  }
  auto given = read_inputs({}, *model);
  REQUIRE_MESSAGE(given.ok(), given.error().message);
  inputs.inputs = *std::move(given);
  inputs.plan.repeat = 2;
  inputs.plan.compare_runs = true;
  inputs.plan.unwatched_ms = 20;
  ComparisonView about = describe_comparison(*model, inputs);
  about.command = "driftscope compare " + model_name;
  about.build = "a build";
  about.machine = describe_machine().json;
  TargetRunner runner({});
  NativeComparisonHost host(*model, inputs, runner);
  ThreadPool threads(1);
  Quiet listener;
  ComparisonRun run(model->graph,
                    {.targets = targets, .perturbation_check = true, .dataset = dataset_plan(inputs)},
                    std::move(about), host, threads, listener);
  for (auto state = run.poll(); *state != RunState::finished; state = run.poll()) REQUIRE(state.ok());
  ComparisonView view = run.take();
  view.gate = checks_json(run_checks(view, FailOn{}));
  return view;
}

}  // namespace

TEST_CASE("StoredComparison_OfRealRuns_IsWrittenTheSameAgain") {
  const std::string digits = "idx:" + asset("data/digits-test-images.idx3-ubyte") + "," +
                             asset("data/digits-test-labels.idx1-ubyte");
  for (const auto& [model, dataset] : {std::pair<std::string, std::string>("lenet5.onnx", digits),
                                       {"resnet20.onnx", ""},
                                       {"gru.onnx", ""}}) {
    CAPTURE(model);
    const ComparisonView view = compared(model, dataset, {"pc/strict", "pc/fast", "pc/none"});
    REQUIRE(view.right[0].comparison.has_value());
    REQUIRE(view.right[1].error.has_value());
    const std::string document = view_json(view);
    const auto read = read_comparison(document);
    REQUIRE_MESSAGE(read.ok(), read.error().message);
    CHECK(view_json(*read) == document);
    // What people see of it is the same, too.
    CHECK(headline(*read) == headline(view));
    CHECK(run_text(*read->right[0].trace) == run_text(*view.right[0].trace));
    CHECK(target_notes(read->right[0]) == target_notes(view.right[0]));
    CHECK(target_notes(view.right[0]).size() == 2);
    CHECK(read->class_names == view.class_names);
    CHECK(read->machine == json_text(parse_ordered_json(view.machine)));
    CHECK(read->right[1].error->kind == view.right[1].error->kind);
  }
}

}  // namespace driftscope::test::stored_comparison_test
