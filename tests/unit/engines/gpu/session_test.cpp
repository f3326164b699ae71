// A session on scripted devices: hung, lost, out of memory; with and without timestamps.
#include "core/engines/gpu/session.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include "core/engines/webgl/lowering.hpp"
#include "core/engines/webgpu/lowering.hpp"
#include "core/platform/platform.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::gpu_session_test {
namespace {

enum class Failure { none, never_ready, hangs, is_lost, has_no_memory };

class ScriptedDevice final : public gpu::Device {
 public:
  explicit ScriptedDevice(Failure failure, bool timestamps = false) : failure_(failure) {
    facts_.name = "a scripted GPU";
    facts_.layers = 4;
    facts_.max_groups = 4096;
    facts_.timestamps = timestamps;
  }
  Result<bool> ready() override {
    if (failure_ == Failure::never_ready) return false;
    if (counts_.compiled < counts_.asked && compiles) {
      if (compile_ns > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(compile_ns));
      ++counts_.compiled;
    }
    return counts_.compiled == counts_.asked;
  }
  bool lost() const override { return given_up_; }
  void give_up() override { given_up_ = true; }
  const gpu::DeviceFacts& facts() const override { return facts_; }
  Result<gpu::ObjectId> make_object(gpu::ObjectSize size, std::string_view label) override {
    if (failure_ == Failure::has_no_memory) return limit_error("no memory for " + std::string(label));
    objects_ += 1;
    bytes_ += size.bytes;
    return ++last_;
  }
  void release_object(gpu::ObjectId /*object*/) override { objects_ -= 1; }
  Status write(gpu::ObjectId /*object*/, std::span<const std::byte> /*bytes*/,
               std::int64_t /*layer_bytes*/) override {
    return {};
  }
  gpu::ProgramId make_program(std::string_view /*label*/, std::string_view /*code*/) override {
    ++counts_.asked;
    return ++last_;
  }
  gpu::ProgramCounts program_counts() const override { return counts_; }
  Result<gpu::RecordingId> record(std::vector<gpu::Command> /*commands*/, bool timed) override {
    timed_ = timed;
    return ++last_;
  }
  void release_recording(gpu::RecordingId /*recording*/) override {}
  Status submit(gpu::RecordingId /*recording*/) override {
    ++submissions;
    return {};
  }
  Result<std::optional<gpu::Finished>> finished(gpu::RecordingId /*recording*/) override {
    if (failure_ == Failure::hangs) return std::optional<gpu::Finished>();
    if (failure_ == Failure::is_lost) return internal_error("the GPU a scripted GPU was lost");
    gpu::Finished finished;
    if (timed_) finished.times_ns = {6'000, 9'000};
    return std::optional(finished);
  }
  Status read(gpu::RecordingId /*recording*/, std::int64_t /*offset*/,
              std::span<std::byte> /*target*/) override {
    return {};
  }
  std::int64_t memory() const override { return bytes_; }
  int objects() const { return objects_; }

  int submissions = 0;
  bool compiles = true;         // a program with each look
  std::int64_t compile_ns = 0;  // that it takes

 private:
  Failure failure_;
  gpu::DeviceFacts facts_;
  bool given_up_ = false;
  bool timed_ = false;
  std::uint32_t last_ = 0;
  std::int64_t bytes_ = 0;
  int objects_ = 0;
  gpu::ProgramCounts counts_;
};

class Nobody final : public TraceSink {
 public:
  bool wants(ValueId /*value*/) const override { return false; }
  Status value(ValueId /*value*/, const Tensor& /*tensor*/) override { return {}; }
  void node_done(NodeId /*node*/, std::int64_t /*time_ns*/) override {}
};

constexpr std::int64_t patience_ns = 30'000'000;

// Two nodes on a scripted device.
struct Scripted {
  std::shared_ptr<ScriptedDevice> device;
  std::vector<Tensor> inputs;
  std::unique_ptr<gpu::GpuSession> session;
};

Scripted scripted(std::shared_ptr<ScriptedDevice> device, bool keeps_calls = false) {
  ModelBuilder model;
  model.input("x", DType::float32, {8}).node("Relu", {"x"}, {"y"}).node("Abs", {"y"}, {"z"}).output("z");
  const NamedInputs inputs = {{"x", tensor<float>({8}, {1, 2, 3, 4, 5, 6, 7, 8})}};
  const auto bound = bind_inputs(built(model), inputs);
  REQUIRE(bound.ok());
  auto graph = std::make_shared<Graph>(*bound->graph);
  auto simd = choose_simd(0);
  REQUIRE(simd.ok());
  auto resources = std::make_unique<gpu::Resources>(*std::move(simd), 1);
  std::vector<NodeId> producers;
  for (const Value& value : graph->values) producers.push_back(value.producer);
  std::vector<std::string> labels = {"first", "last"};
  resources->graph = graph;
  const auto planner = [producers](gpu::Resources& from,
                                   gpu::Device& on) -> Result<std::optional<lowering::Plan>> {
    DRIFTSCOPE_TRY(auto plan, webgl::Lowering(*from.graph, producers, {}, from.fallback, on).run());
    return std::optional(std::move(plan));
  };
  const auto calls = keeps_calls ? std::make_shared<gpu::CallLog>(device, gpu::Api::webgl) : nullptr;
  auto session = std::make_unique<gpu::GpuSession>(std::move(resources),
                                                   keeps_calls ? std::shared_ptr<gpu::Device>(calls) : device,
                                                   planner, std::move(labels), RanWith(), false, patience_ns);
  session->keep_calls(calls);
  return {device, bound->inputs, std::move(session)};
}

// The error of a run; a device that it leaves without its objects.
std::pair<Error, std::shared_ptr<ScriptedDevice>> fails(Failure failure, bool compiles = true) {
  const Scripted it = scripted(std::make_shared<ScriptedDevice>(failure));
  it.device->compiles = compiles;
  Nobody nobody;
  REQUIRE(it.session->start(it.inputs, nobody).ok());
  const std::int64_t begin = monotonic_ns();
  while (monotonic_ns() - begin < 1000 * patience_ns) {
    auto progress = it.session->poll(1'000'000);
    if (!progress.ok()) return {std::move(progress).error(), it.device};
    REQUIRE(!progress->finished());
  }
  FAIL("the session waits forever");
  return {internal_error(""), it.device};
}

// Looks at the times of nodes.
class Watch final : public TraceSink {
 public:
  bool wants(ValueId /*value*/) const override { return false; }
  Status value(ValueId /*value*/, const Tensor& /*tensor*/) override { return {}; }
  void node_done(NodeId /*node*/, std::int64_t time_ns) override { times.push_back(time_ns); }
  void unattributed_time(std::int64_t time_ns) override { together.push_back(time_ns); }
  bool wants_times() const override { return wanted; }

  bool wanted = true;
  std::vector<std::int64_t> times;
  std::vector<std::int64_t> together;  // of several nodes
};

void run(const Scripted& it, Watch& watch) {
  REQUIRE(it.session->start(it.inputs, watch).ok());
  for (bool done = false; !done;) {
    const auto progress = it.session->poll(1'000'000);
    REQUIRE_MESSAGE(progress.ok(), progress.error().message);
    done = progress->finished();
  }
  REQUIRE(it.session->finish().ok());
}

TEST_CASE("GpuSession_WithoutTimestamps_SubmitsEachNodeForItsTime") {
  const Scripted it = scripted(std::make_shared<ScriptedDevice>(Failure::none));
  Watch watch;
  run(it, watch);
  CHECK(it.device->submissions == 2);
  CHECK(watch.times.size() == 2);
  CHECK(watch.together.empty());
  CHECK(!it.session->ran_with().options.contains("timestamp_step"));
  watch.wanted = false;
  run(it, watch);
  CHECK(it.device->submissions == 3);
}

TEST_CASE("GpuSession_SeveralNodesInASubmission_NoneOfThemGetsTheTimeOfAll") {
  const Scripted it = scripted(std::make_shared<ScriptedDevice>(Failure::none));
  Watch watch;
  watch.wanted = false;
  run(it, watch);
  CHECK(it.device->submissions == 1);
  CHECK(watch.times.empty());
  CHECK(watch.together.size() == 1);
}

TEST_CASE("GpuSession_WithTimestamps_SubmitsOnceAndSaysTheirStep") {
  const Scripted it = scripted(std::make_shared<ScriptedDevice>(Failure::none, true));
  Watch watch;
  run(it, watch);
  CHECK(it.device->submissions == 1);
  REQUIRE(watch.times.size() == 2);
  CHECK(watch.times[1] == 9'000);
  CHECK(it.session->ran_with().options.at("timestamp_step") == "3000 ns");
}

TEST_CASE("GpuSession_CallsThatAreKept_AreThoseOfOneRun") {
  const Scripted it = scripted(std::make_shared<ScriptedDevice>(Failure::none), true);
  Watch watch;
  run(it, watch);
  const std::string first = it.session->ran_with().options.at("calls");
  const auto count = [&](const std::string& part) {
    int found = 0;
    for (std::size_t at = first.find(part); at != std::string::npos; at = first.find(part, at + 1)) ++found;
    return found;
  };
  CHECK(count("program(") == count("draw("));
  CHECK(count("draw(") == 2);
  CHECK(count("write(") == 1);  // the input; there are no weights
  CHECK(count("object(") > 1);
  CHECK(first.find("await answer(await bytesOf(") != std::string::npos);
  CHECK(first.ends_with(", \"float32\", 8);\n"));
  run(it, watch);
  CHECK(it.session->ran_with().options.at("calls") == first);
  CHECK(
      scripted(std::make_shared<ScriptedDevice>(Failure::none)).session->ran_with().options.count("calls") ==
      0);
}

TEST_CASE("GpuSession_HungSubmission_EndsWithItsNodesAndGivesTheDeviceUp") {
  const auto [error, device] = fails(Failure::hangs);
  CHECK(error.kind == ErrorKind::limit);
  CHECK(error.message.find("first to last") != std::string::npos);
  CHECK(error.message.find("timeout=") != std::string::npos);
  CHECK(device->lost());
  CHECK(device->objects() == 0);
}

TEST_CASE("GpuSession_DeviceThatIsNeverReady_Ends") {
  const auto [error, device] = fails(Failure::never_ready);
  CHECK(error.message.find("a scripted GPU has not finished") != std::string::npos);
  CHECK(device->lost());
}

TEST_CASE("GpuSession_ProgramsThatDoNotCompile_EndWithHowManyDid") {
  const auto [error, device] = fails(Failure::none, false);
  CHECK(error.kind == ErrorKind::limit);
  CHECK(error.message.find("compiling shaders, 0 of 2 are done") != std::string::npos);
  CHECK(device->lost());
}

// Together they take longer than the session waits for anything, each takes less.
TEST_CASE("GpuSession_EachProgramThatIsCompiled_IsProgress") {
  const Scripted it = scripted(std::make_shared<ScriptedDevice>(Failure::none));
  it.device->compile_ns = patience_ns * 2 / 3;
  Watch watch;
  REQUIRE(it.session->start(it.inputs, watch).ok());
  std::vector<std::pair<std::int64_t, std::int64_t>> told;
  for (bool preparing = true; preparing;) {
    const auto progress = it.session->poll(1'000'000);
    REQUIRE_MESSAGE(progress.ok(), progress.error().message);
    preparing = progress->preparing;
    told.emplace_back(progress->prepared, progress->to_prepare);
  }
  const std::vector<std::pair<std::int64_t, std::int64_t>> wanted = {{1, 2}, {0, 0}};
  CHECK(told == wanted);
}

// What the device compiled for the sessions before is no progress of this one.
TEST_CASE("GpuSession_AnotherOnTheSameDevice_CountsItsOwnPrograms") {
  const auto device = std::make_shared<ScriptedDevice>(Failure::none);
  Watch watch;
  run(scripted(device), watch);
  const Scripted second = scripted(device);
  REQUIRE(second.session->start(second.inputs, watch).ok());
  const auto progress = second.session->poll(1'000'000);
  REQUIRE(progress.ok());
  CHECK(progress->prepared == 1);
  CHECK(progress->to_prepare == 2);
}

// Which operators of a normalization with this epsilon strict runs.
template <class Lowering>
std::map<std::string, int> left_to_strict(const std::string& op, float epsilon) {
  ModelBuilder model;
  model.input("x", DType::float32, {1, 4, 2, 4})
      .initializer("scale", tensor<float>({4}, {1, 2, 3, 4}))
      .initializer("bias", tensor<float>({4}, {1, 2, 3, 4}))
      .node(op, {"x", "scale", "bias"}, {"y"}, {real("epsilon", epsilon)})
      .output("y");
  const auto bound = bind_inputs(built(model), {{"x", tensor<float>({1, 4, 2, 4}, std::vector<float>(32))}});
  REQUIRE(bound.ok());
  Graph graph = *bound->graph;
  auto simd = choose_simd(0);
  REQUIRE(simd.ok());
  gpu::Resources resources(*std::move(simd), 1);
  std::vector<NodeId> producers;
  for (const Value& value : graph.values) producers.push_back(value.producer);
  ScriptedDevice device(Failure::none);
  const auto plan = Lowering(graph, producers, {}, resources.fallback, device).run();
  REQUIRE_MESSAGE(plan.ok(), plan.error().message);
  return plan->on_fallback;
}

// The shaders have no name for such numbers.
TEST_CASE("GpuNormalization_EpsilonThatIsNotFinite_IsLeftToStrict") {
  for (const std::string op : {"LayerNormalization", "InstanceNormalization"}) {
    CAPTURE(op);
    CHECK(left_to_strict<webgpu::Lowering>(op, 1e-5f).empty());
    CHECK(left_to_strict<webgl::Lowering>(op, 1e-5f).empty());
    for (const float epsilon : {std::numeric_limits<float>::quiet_NaN(), HUGE_VALF, -HUGE_VALF}) {
      CAPTURE(epsilon);
      CHECK(left_to_strict<webgpu::Lowering>(op, epsilon) == std::map<std::string, int>{{op, 1}});
      CHECK(left_to_strict<webgl::Lowering>(op, epsilon) == std::map<std::string, int>{{op, 1}});
    }
  }
}

TEST_CASE("GpuSession_LostDevice_IsItsError") {
  CHECK(fails(Failure::is_lost).first.message == "the GPU a scripted GPU was lost");
}

TEST_CASE("GpuSession_NoMemory_SaysForWhat") {
  const auto [error, device] = fails(Failure::has_no_memory);
  CHECK(error.kind == ErrorKind::limit);
  CHECK(error.message.find("intermediate values") != std::string::npos);
  CHECK(device->objects() == 0);
}

}  // namespace
}  // namespace driftscope::test::gpu_session_test
