// A kept comparison holds what the comparison had, in each of its parts.
#include <doctest/doctest.h>

#include <cstring>

#include "core/gui/kept_run.hpp"
#include "core/kept/kept_comparison.hpp"
#include "core/platform/platform.hpp"
#include "core/results/view_json.hpp"
#include "core/verify/compare.hpp"
#include "unit/support/model_builder.hpp"

namespace driftscope::test::kept_comparison_test {
namespace {

using Bytes = std::vector<std::byte>;

class Memory final : public ArchiveOutput {
 public:
  Status append(std::span<const std::byte> more) override {
    bytes.insert(bytes.end(), more.begin(), more.end());
    return {};
  }
  Status write_at(std::uint64_t offset, std::span<const std::byte> part) override {
    std::memcpy(bytes.data() + offset, part.data(), part.size());
    return {};
  }
  Bytes bytes;
};

const std::string sha256(64, 'a');

Graph graph() {
  ModelBuilder model;
  model.input("x", DType::float32, {1, 2})
      .node("Relu", {"x"}, {"a"})
      .named("first")
      .node("Neg", {"a"}, {"y"})
      .named("second")
      .output("y");
  return built(model);
}

Trace trace_of(const std::string& target, float last) {
  Trace trace;
  trace.target = target;
  trace.model_sha256 = sha256;
  trace.run = R"({"engine":"strict","threads_real":1})";
  trace.tensors = {{"x", tensor<float>({1, 2}, {1, 2})},
                   {"a", tensor<float>({1, 2}, {1, 2})},
                   {"y", tensor<float>({1, 2}, {-1, last})}};
  trace.nodes = {{"first", "Relu", {"a"}, {9, 5}}, {"second", "Neg", {"y"}, {7, 6}}};
  trace.memory = {{0.0, 1000, "process_pss"}};
  return trace;
}

/// pc/strict beside a target that differs, and one that failed.
ComparisonView view() {
  const Graph model = graph();
  ComparisonView made;
  made.model_name = "small.onnx";
  made.model_sha256 = sha256;
  made.input_text = "seed:42 (random)";
  made.input_label = "seven";
  made.command = "driftscope compare small.onnx";
  made.build = "abc";
  made.class_names = {"no", "yes"};
  ThreadPool threads(1);
  const auto add = [&](TargetResult& result, const std::string& target, float last) {
    result.target = target;
    result.trace = trace_of(target, last);
    auto verification = verify(model, sha256, *result.trace, threads);
    REQUIRE(verification.ok());
    result.verification = *std::move(verification);
  };
  add(made.left, "pc/strict", -2.0f);
  add(made.right.emplace_back(), "chrome/fast", -2.5f);
  auto comparison = compare(model, *made.left.trace, *made.right[0].trace);
  REQUIRE(comparison.ok());
  made.right[0].comparison = *std::move(comparison);
  TargetResult& failed = made.right.emplace_back();
  failed.target = "safari/strict";
  failed.error = missing_error("Safari is not here");
  return made;
}

Bytes kept(const ComparisonView& made, bool with_model = true) {
  Memory memory;
  KeptSources sources;
  const std::string model = "the model's bytes";
  const std::string weights = "its weights";
  if (with_model)
    sources.model = {{"small.onnx", std::as_bytes(std::span(model))},
                     {"data/w.bin", std::as_bytes(std::span(weights))}};
  const std::vector<NamedTensor> inputs = {{"x", tensor<float>({1, 2}, {1, 2})}};
  sources.inputs = inputs;
  sources.topology = topology_of(graph());
  const Status written = write_kept(made, sources, memory);
  REQUIRE_MESSAGE(written.ok(), written.error().message);
  return memory.bytes;
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

TEST_CASE("Kept_EveryPart_ComesBackAsItWas") {
  const ComparisonView made = view();
  const Bytes file = kept(made);
  CHECK(kept(made) == file);  // nothing depends on the time of day
  const auto opened = KeptComparison::open(file);
  REQUIRE_MESSAGE(opened.ok(), opened.error().message);
  CHECK(view_json(opened->view()) == view_json(made));
  CHECK(opened->view().class_names == made.class_names);
  CHECK(opened->view().command == made.command);
  REQUIRE(opened->model().size() == 2);
  CHECK(opened->model()[0].name == "small.onnx");
  CHECK(text_of(opened->model()[0].bytes) == "the model's bytes");
  CHECK(opened->model()[1].name == "data/w.bin");
  CHECK(text_of(opened->model()[1].bytes) == "its weights");
  REQUIRE(opened->inputs().size() == 1);
  CHECK(opened->inputs()[0].name == "x");
  REQUIRE(opened->topology().nodes.size() == 2);
  CHECK(opened->topology().nodes[1].inputs == std::vector<std::string>{"a"});
  CHECK(!opened->trace(0).empty());
  CHECK(opened->trace(2).empty());
  const auto whole = opened->whole_view();
  REQUIRE(whole.ok());
  CHECK(view_json(*whole) == view_json(made));
  const Trace& trace = *whole->right[0].trace;
  CHECK(trace.nodes[1].time_ns == std::vector<std::int64_t>{7, 6});
  CHECK(trace.find("y")->values<float>()[1] == -2.5f);
  CHECK(whole->right[1].error->kind == ErrorKind::missing);
}

TEST_CASE("Kept_AsASnapshot_ShowsWhatTheLiveRunShows") {
  const ComparisonView made = view();
  const auto file = std::make_shared<const Bytes>(kept(made, false));
  const auto opened = KeptComparison::open(*file);
  REQUIRE(opened.ok());
  CHECK(opened->model().empty());
  auto parts = gui::parts_of(*opened, file);
  REQUIRE(parts.ok());
  const gui::Snapshot shown = gui::make_snapshot(*std::move(parts));
  const gui::Snapshot live = gui::make_snapshot(gui::parts_of(made, graph()));
  CHECK(shown.title == live.title);
  CHECK(shown.headline == live.headline);
  CHECK(shown.has_structure);
  CHECK(shown.input_text == live.input_text);
  CHECK(shown.input_label == live.input_label);
  REQUIRE(shown.layers.size() == live.layers.size());
  REQUIRE(shown.targets.size() == live.targets.size());
  for (std::size_t t = 0; t < live.targets.size(); ++t) {
    CHECK(shown.targets[t].target == live.targets[t].target);
    CHECK(shown.targets[t].error == live.targets[t].error);
    CHECK(shown.targets[t].ran == live.targets[t].ran);
    CHECK(shown.targets[t].time.ns == live.targets[t].time.ns);
    CHECK(shown.targets[t].peak.bytes == live.targets[t].peak.bytes);
    CHECK(shown.targets[t].verdict == live.targets[t].verdict);
    for (std::size_t i = 0; i < live.layers.size(); ++i) {
      CHECK(shown.layers[i].inputs == live.layers[i].inputs);
      CHECK(shown.cell(i, t).verdict == live.cell(i, t).verdict);
      CHECK(shown.cell(i, t).time_ns() == live.cell(i, t).time_ns());
      CHECK(shown.tensor_place(i, t) == live.tensor_place(i, t));
    }
  }
}

TEST_CASE("Kept_TraceOfAnotherModel_IsRefused") {
  ComparisonView made = view();
  made.right[0].trace->model_sha256 = std::string(64, 'b');
  const auto opened = KeptComparison::open(kept(made));
  REQUIRE(!opened.ok());
  CHECK(opened.error().message.find("another model") != std::string::npos);
}

TEST_CASE("Kept_CutAnywhere_IsAnError") {
  const Bytes file = kept(view());
  for (std::size_t size = 0; size < file.size(); size += 7)
    CHECK(!KeptComparison::open(std::span(file).first(size)).ok());
}

}  // namespace driftscope::test::kept_comparison_test
