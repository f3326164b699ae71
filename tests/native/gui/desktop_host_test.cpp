// The background work of the desktop program: opening, judging, running, stopping, saving.
#include "native/gui/desktop_host.hpp"

#include <doctest/doctest.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "core/base/json.hpp"
#include "core/results/verify_json.hpp"
#include "core/trace/trace_file.hpp"
#include "native/cli/commands/gui_options.hpp"
#include "native/compare/comparison_host.hpp"
#include "native/gui/opened_files.hpp"
#include "native/os/files.hpp"
#include "native/os/temp_folder.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::desktop_host_test {
namespace {

namespace fs = std::filesystem;

/// A host without browsers (no site), without a history, in a folder of its own.
struct Desk {
  TempFolder folder = *TempFolder::make();
  DesktopHost host{
      {.timeout = std::chrono::seconds(5), .site = folder.path() / "no-site"}, folder.path(), [] {}};

  std::shared_ptr<const gui::Feed> settled() {
    for (int i = 0; i < 12'000 && host.feed()->busy; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    REQUIRE_FALSE(host.feed()->busy);
    return host.feed();
  }
  fs::path file(const std::string& name, std::span<const std::byte> bytes) {
    const fs::path path = folder.path() / name;
    REQUIRE(write_file(path, bytes).ok());
    return path;
  }
};

ModelBuilder small_model() {
  ModelBuilder model;
  model.input("x", DType::float32, {1, 4})
      .node("Relu", {"x"}, {"a"})
      .named("first")
      .node("Neg", {"a"}, {"y"})
      .named("second")
      .output("y");
  return model;
}

std::vector<std::byte> trace_file(const std::string& target, float last,
                                  const std::string& model_sha256 = "") {
  Trace trace;
  trace.target = target;
  trace.model_sha256 = model_sha256;
  trace.nodes = {{"first", "Relu", {"a"}, {20, 10}}, {"second", "Neg", {"y"}, {20, 10}}};
  trace.tensors = {{"x", tensor<float>({1, 4}, {1, -2, 3, -4})},
                   {"a", tensor<float>({1, 4}, {1, 0, 3, 0})},
                   {"y", tensor<float>({1, 4}, {-1, -0.0f, -3, last})}};
  const auto bytes = write_trace(trace);
  REQUIRE(bytes.ok());
  return *bytes;
}

}  // namespace

TEST_CASE("DesktopHost_AtTheStart_SaysWhatThisMachineCanRunAndWhyNotTheRest") {
  Desk desk;
  const auto feed = desk.settled();
  REQUIRE_FALSE(feed->targets.empty());
  CHECK(feed->targets.front().target == "pc/strict");
  CHECK(feed->targets.front().available);
  bool browser = false;
  for (const gui::TargetChoice& choice : feed->targets) {
    if (choice.target.rfind("pc/", 0) == 0) continue;
    browser = true;
    CHECK_FALSE(choice.available);
    CHECK_FALSE(choice.detail.empty());
  }
  CHECK(browser);
}

TEST_CASE("DesktopHost_TracesAndTheirModel_AreComparedAndJudged") {
  Desk desk;
  const auto left = desk.file("left.safetensors", trace_file("pc/strict", -0.0f));
  const auto right = desk.file("right.safetensors", trace_file("chrome/strict", 7.0f));
  desk.host.open({left, right});
  auto feed = desk.settled();
  REQUIRE(feed->snapshot);
  REQUIRE(feed->snapshot->targets.size() == 2);
  CHECK(feed->snapshot->layers.size() == 2);
  CHECK(feed->snapshot->targets[1].first_divergence == 1);
  CHECK_FALSE(feed->snapshot->has_structure);
  desk.host.open({desk.file("small.onnx", small_model().bytes())});
  feed = desk.settled();
  CHECK_MESSAGE(feed->error.empty(), feed->error);
  CHECK(feed->snapshot->has_structure);
  CHECK(feed->snapshot->title == "small.onnx");
  CHECK(feed->snapshot->targets[1].first_fault == 1);
  CHECK(feed->snapshot->cell(0, 1).verdict == Verdict::identical);
}

TEST_CASE("DesktopHost_RunsOfAnotherModel_TakeTheirPlaceOrAreLeftOut") {
  Desk desk;
  const std::string one(64, '1');
  const std::string two(64, '2');
  const auto first = desk.file("first.safetensors", trace_file("pc/strict", 0, one));
  const auto second = desk.file("second.safetensors", trace_file("pc/fast", 0, two));
  desk.host.open({first});
  desk.settled();
  desk.host.open({second});
  auto feed = desk.settled();
  REQUIRE(feed->snapshot->targets.size() == 1);
  CHECK(feed->snapshot->targets[0].target == "pc/fast");
  desk.host.open({first, second});
  feed = desk.settled();
  REQUIRE(feed->snapshot->targets.size() == 1);
  CHECK(feed->error.find("pc/fast is a run of another model") != std::string::npos);
}

TEST_CASE("DesktopHost_BadFiles_SayWhatIsWrongAndKeepWhatWasOpen") {
  Desk desk;
  desk.host.open({desk.file("good.safetensors", trace_file("pc/strict", 0))});
  desk.settled();
  auto cut = trace_file("pc/fast", 0);
  cut.resize(cut.size() / 2);
  desk.host.open(
      {desk.file("cut.safetensors", cut), desk.file("strange.xyz", cut), desk.folder.path() / "gone.json"});
  const auto feed = desk.settled();
  CHECK(feed->error.find("cut.safetensors") != std::string::npos);
  CHECK(feed->error.find("unknown kind of file") != std::string::npos);
  CHECK(feed->error.find("gone.json") != std::string::npos);
  CHECK(feed->snapshot->targets.size() == 1);
}

TEST_CASE("DesktopHost_AComparison_ShowsEachTargetAndCanBeStopped") {
  Desk desk;
  desk.host.open({desk.file("small.onnx", small_model().bytes())});
  desk.settled();
  desk.host.run({.targets = {"pc/strict", "pc/reference", "nowhere/strict", "remote:nowhere/strict"}});
  auto feed = desk.settled();
  REQUIRE(feed->snapshot);
  REQUIRE(feed->snapshot->targets.size() == 4);
  CHECK(feed->snapshot->targets[1].first_divergence == no_place);
  CHECK(feed->progress[0].state == gui::TargetProgress::State::done);
  for (const std::size_t bad : {2, 3}) {
    CHECK(feed->progress[bad].state == gui::TargetProgress::State::failed);
    CHECK(feed->progress[bad].error.find("nowhere") != std::string::npos);
  }
  // Requests after a stop run again.
  desk.host.run({.targets = {"pc/strict"}});
  desk.host.stop();
  desk.settled();
  desk.host.run({.targets = {"pc/strict"}});
  feed = desk.settled();
  CHECK(feed->progress[0].state == gui::TargetProgress::State::done);
}

TEST_CASE("DesktopHost_AVerdictThatNamesNoModel_IsNotTakenForTheChosenOne") {
  Desk desk;
  desk.host.open({desk.file("small.onnx", small_model().bytes())});
  desk.settled();
  Verification verification;
  verification.target = "pc/strict";
  verification.verdict = Verdict::identical;
  LayerVerdict& layer = verification.layers.emplace_back();
  layer.node = "n";
  layer.op = "Relu";
  layer.output = "v";
  layer.shape = {1};
  layer.verdict = Verdict::identical;
  const std::string json = verification_json(verification);
  desk.host.open({desk.file("other.json", std::as_bytes(std::span(json)))});
  const auto feed = desk.settled();
  CHECK(feed->error.empty());
  CHECK(feed->snapshot->title == "other.json");
  CHECK_FALSE(feed->snapshot->has_structure);
}

TEST_CASE("DesktopHost_AKeptComparison_IsShownAsItRanAndRunsAgain") {
  Desk desk;
  const fs::path lenet5 = std::string(DRIFTSCOPE_SOURCE_DIR) + "/assets/models/lenet5.onnx";
  desk.host.open({lenet5});
  desk.settled();
  desk.host.run({.targets = {"pc/strict", "pc/reference"}, .repeat_check = true, .perturbation_check = true});
  const auto live = desk.settled();
  REQUIRE_MESSAGE(live->snapshot, live->error);
  REQUIRE(live->snapshot->targets[0].notes.size() >= 2);
  const auto model = load_model_file(lenet5);
  REQUIRE(model.ok());
  ComparisonInputs inputs;
  inputs.inputs = *read_inputs({"seed:7"}, *model);
  TargetRunner runner({});
  NativeComparisonHost runs(*model, inputs, runner);
  ThreadPool threads(1);
  struct : ComparisonListener {
    void on_progress(std::size_t, ComparisonStage, std::string_view, std::int64_t, std::int64_t) override {}
    void on_result(std::size_t) override {}
  } quiet;
  ComparisonRun run(model->graph, {.targets = {"pc/strict", "pc/reference"}},
                    describe_comparison(*model, inputs), runs, threads, quiet);
  for (auto state = run.poll(); *state != RunState::finished; state = run.poll()) REQUIRE(state.ok());
  const fs::path path = desk.folder.path() / "run.drift";
  for (const KeepModel keep : {KeepModel::whole, KeepModel::hash_alone}) {
    REQUIRE(save_kept(path, run.view(), *model, inputs.inputs.tensors, keep).ok());
    desk.host.open({path});
    auto feed = desk.settled();
    CHECK(feed->error == "");
    REQUIRE(feed->snapshot);
    CHECK(feed->snapshot->title == "lenet5.onnx");
    CHECK(feed->snapshot->input_text == "seed:7 (random), N=1 (found)");
    CHECK(feed->snapshot->has_structure);
    REQUIRE(feed->snapshot->targets.size() == 2);
    CHECK(feed->snapshot->targets[1].tensors);
    CHECK(feed->snapshot->targets[0].time.ns > 0.0);
  }
  // With its model it runs again on its inputs.
  REQUIRE(save_kept(path, run.view(), *model, inputs.inputs.tensors, KeepModel::whole).ok());
  desk.host.open({path});
  desk.settled();
  desk.host.run({.targets = {"pc/strict"}});
  const auto again = desk.settled();
  CHECK(again->snapshot->input_text == "seed:7 (random), N=1 (found)");
  // A file that is cut says so and changes nothing.
  fs::resize_file(path, 5000);
  desk.host.open({path});
  const auto cut = desk.settled();
  CHECK(cut->error.find("cut") != std::string::npos);
  CHECK(cut->snapshot == again->snapshot);
}

TEST_CASE("DesktopHost_Curves_OfOneOpeningAreOneSet_AndBadOnesChangeNothing") {
  Desk desk;
  const auto text = [&](const std::string& name, const std::string& content) {
    return desk.file(name, std::as_bytes(std::span(content)));
  };
  desk.host.open({text("a.csv", "epoch,loss\n1,2\n2,1\n"), text("b.json", "{\"loss\": [3, 2]}")});
  auto feed = desk.settled();
  CHECK_MESSAGE(feed->error.empty(), feed->error);
  REQUIRE(feed->curves);
  CHECK(feed->curves->groups.size() == 2);
  CHECK(feed->curves->document.comparisons.size() == 1);
  const auto open = feed->curves;
  desk.host.open({text("c.csv", "epoch,loss\n1,2\n2,high\n")});
  feed = desk.settled();
  CHECK(feed->error.find("c.csv: line 3") != std::string::npos);
  CHECK(feed->curves == open);
}

TEST_CASE("KindOfFile_OfJson_IsToldByItsFormat") {
  Desk desk;
  const auto kind = [&](const std::string& name, const std::string& content) {
    return kind_of_file(desk.file(name, std::as_bytes(std::span(content))));
  };
  CHECK(kind("a.json", R"({"format": "driftscope-compare-1"})") == FileKind::comparison);
  CHECK(kind("b.json", R"([{"format": "driftscope-verify-1"}])") == FileKind::comparison);
  CHECK(kind("c.json", R"({"format": "driftscope-attack-1"})") == FileKind::attack);
  CHECK(kind("d.json", R"({"format": "driftscope-training-1"})") == FileKind::curves);
  CHECK(kind("e.json", R"({"loss": [1]})") == FileKind::curves);
  CHECK(kind("f.CSV", "") == FileKind::curves);
  CHECK(kind("events.out.tfevents.1.host", "") == FileKind::curves);
  CHECK(kind_of_file(desk.folder.path() / "gone.json") == FileKind::comparison);
  CHECK(kind_of_file(desk.folder.path()) == FileKind::curves);  // event files in it
}

TEST_CASE("DesktopHost_ADataset_IsPredictedOnEachTarget") {
  setenv("DRIFTSCOPE_ASSETS", DRIFTSCOPE_SOURCE_DIR "/assets", 1);
  Desk desk;
  auto feed = desk.settled();
  const auto lenet = std::find(feed->models.begin(), feed->models.end(), "lenet5");
  REQUIRE(lenet != feed->models.end());
  desk.host.choose_model(static_cast<std::size_t>(lenet - feed->models.begin()));
  desk.host.run({.targets = {"pc/strict", "pc/fast"}, .dataset = true});
  feed = desk.settled();
  REQUIRE(feed->snapshot);
  REQUIRE(feed->snapshot->targets.size() == 2);
  for (const gui::TargetColumn& target : feed->snapshot->targets) {
    REQUIRE(target.dataset.has_value());
    CHECK(target.dataset->samples == 450);
    CHECK(target.dataset->correct == 445);  // as PyTorch: assets/data/lenet5.predictions.txt
    CHECK(agreement(*feed->snapshot->targets[0].dataset, *target.dataset) == 450);
  }
  desk.host.run({.targets = {"pc/strict"}});
  CHECK_FALSE(desk.settled()->snapshot->targets[0].dataset.has_value());
  unsetenv("DRIFTSCOPE_ASSETS");
}

TEST_CASE("DesktopHost_Saving_WritesOverNothing") {
  Desk desk;
  const std::vector<std::byte> bytes(3);
  CHECK(desk.host.save("a.csv", bytes) == "saved " + (desk.folder.path() / "a.csv").string());
  CHECK(desk.host.save("a.csv", bytes) == "saved " + (desk.folder.path() / "a-2.csv").string());
  CHECK(fs::exists(desk.folder.path() / "a-2.csv"));
}

TEST_CASE("KindOfFile_IsToldByTheEndingInAnyCase") {
  CHECK(kind_of_file("a/b.ONNX") == FileKind::model);
  CHECK(kind_of_file("b.safetensors") == FileKind::trace);
  CHECK(kind_of_file("b.json") == FileKind::comparison);
  CHECK(kind_of_file("b.JPG") == FileKind::sample);
  CHECK(kind_of_file("b.xyz") == FileKind::unknown);
}

TEST_CASE("GuiOptions_AsArguments_AreReadBackTheSame") {
  CLI::App app;
  GuiOptions options;
  add_gui_options(app, options);
  app.parse("--view Drift --light --scale 1.5 --timeout 7 --stall-timeout 9 -- --odd-name.json b.onnx");
  const auto arguments = gui_arguments(options);
  CLI::App again;
  GuiOptions read;
  add_gui_options(again, read);
  again.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  CHECK(read.view == "Drift");
  CHECK(read.light);
  CHECK(read.scale == 1.5);
  CHECK(read.runner.timeout == std::chrono::seconds(7));
  CHECK(read.runner.stall_timeout == std::chrono::seconds(9));
  CHECK(read.runs == std::vector<std::string>{"--odd-name.json", "b.onnx"});
}

TEST_CASE("DesktopHost_AWrongLayer_IsExaminedAsTheCommandsDo") {
  Desk desk;
  Trace trace;
  trace.target = "pc/strict";
  trace.nodes = {{"first", "Relu", {"a"}, {20, 10}}, {"second", "Neg", {"y"}, {20, 10}}};
  trace.tensors = {{"x", tensor<float>({1, 4}, {1, 2, 3, -4})},
                   {"a", tensor<float>({1, 4}, {1, 2, 3, 9})},
                   {"y", tensor<float>({1, 4}, {-1, -2, -3, -9})}};
  const auto bytes = write_trace(trace);
  REQUIRE(bytes.ok());
  desk.host.open({desk.file("small.onnx", small_model().bytes()), desk.file("wrong.safetensors", *bytes)});
  auto feed = desk.settled();
  REQUIRE_MESSAGE(feed->snapshot, feed->error);
  REQUIRE(feed->snapshot->targets[0].first_fault == 0);
  REQUIRE(feed->snapshot->explanation(0, 0) != nullptr);
  CHECK(feed->snapshot->explanation(0, 0)->map);
  const auto result_of = [&](gui::LayerWork work) {
    const gui::LayerTask task{work, "first", "pc/strict"};
    CHECK(desk.host.examine(task));
    feed = desk.settled();
    CHECK_FALSE(feed->examining);
    REQUIRE(feed->examined);
    REQUIRE(feed->examined->back().task == task);
    return feed->examined->back();
  };
  const gui::LayerWorkResult matters = result_of(gui::LayerWork::causal_test);
  CHECK_FALSE(matters.failed);
  CHECK(matters.text.find("with this layer right, the answer is right on pc/strict") != std::string::npos);
  // The trace was spoiled: the node alone is right.
  const gui::LayerWorkResult reduced = result_of(gui::LayerWork::reduce);
  CHECK(reduced.failed);
  CHECK(reduced.text.find("is right on pc/strict when it stands alone") != std::string::npos);
  const gui::LayerWorkResult report = result_of(gui::LayerWork::repro);
  CHECK(report.failed);
  CHECK(report.folder.empty());
  CHECK(feed->examined->size() == 3);
  result_of(gui::LayerWork::repro);
  CHECK(feed->examined->size() == 3);  // in place of the one before
}

TEST_CASE("DesktopHost_ALayerWithoutValuesOrModel_SaysWhatToOpen") {
  Desk desk;
  desk.host.examine({gui::LayerWork::reduce, "second", "pc/strict"});
  auto feed = desk.settled();
  REQUIRE(feed->examined);
  CHECK(feed->examined->back().failed);
  CHECK(feed->examined->back().text.find("open its trace file") != std::string::npos);
  desk.host.open({desk.file("run.safetensors", trace_file("pc/strict", 7.0f, std::string(64, '1')))});
  desk.settled();
  desk.host.examine({gui::LayerWork::reduce, "second", "pc/strict"});
  feed = desk.settled();
  CHECK(feed->examined->back().text.find("open the .onnx file") != std::string::npos);
}

TEST_CASE("DesktopHost_AGeneration_OpensAsAFileAndAsAFolder") {
  Desk desk;
  documents::Generate results;
  results.model = "decoder.onnx";
  results.targets.emplace_back().target = "pc/strict";
  const std::string text = json_text(encode(results));
  desk.host.open({desk.file("kept.json", std::as_bytes(std::span(text)))});
  auto feed = desk.settled();
  REQUIRE_MESSAGE(feed->generation, feed->error);
  CHECK(feed->generation->model == "decoder.onnx");
  fs::create_directory(desk.folder.path() / "steps");
  desk.file("steps/generate.json", std::as_bytes(std::span(text)));
  const auto before = feed->generation;
  desk.host.open({desk.folder.path() / "steps"});
  feed = desk.settled();
  CHECK(feed->error.empty());
  CHECK(feed->generation != before);
  const std::string bad = R"({"format": "driftscope-generate-1", "model": "m"})";
  desk.host.open({desk.file("bad.json", std::as_bytes(std::span(bad)))});
  feed = desk.settled();
  CHECK(feed->error.find("bad.json: the document") != std::string::npos);
  CHECK(feed->generation);
}

}  // namespace driftscope::test::desktop_host_test
