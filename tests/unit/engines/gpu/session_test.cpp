// A session on devices that fail: hung, lost, out of memory.
#include "core/engines/gpu/session.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "core/engines/webgl/lowering.hpp"
#include "core/platform/platform.hpp"
#include "core/runtime/bind_inputs.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test::gpu_session_test {
namespace {

enum class Failure { none, never_ready, hangs, is_lost, has_no_memory };

class FailingDevice final : public gpu::Device {
 public:
  explicit FailingDevice(Failure failure) : failure_(failure) {
    facts_.name = "a scripted GPU";
    facts_.layers = 4;
    facts_.max_groups = 4096;
  }
  Result<bool> ready() override { return failure_ != Failure::never_ready; }
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
    return ++last_;
  }
  Result<gpu::RecordingId> record(std::vector<gpu::Command> /*commands*/, bool /*timed*/) override {
    return ++last_;
  }
  void release_recording(gpu::RecordingId /*recording*/) override {}
  Status submit(gpu::RecordingId /*recording*/) override { return {}; }
  Result<std::optional<gpu::Finished>> finished(gpu::RecordingId /*recording*/) override {
    if (failure_ == Failure::hangs) return std::optional<gpu::Finished>();
    return internal_error("the GPU a scripted GPU was lost");
  }
  Status read(gpu::RecordingId /*recording*/, std::int64_t /*offset*/,
              std::span<std::byte> /*target*/) override {
    return {};
  }
  std::int64_t memory() const override { return bytes_; }
  int objects() const { return objects_; }

 private:
  Failure failure_;
  gpu::DeviceFacts facts_;
  bool given_up_ = false;
  std::uint32_t last_ = 0;
  std::int64_t bytes_ = 0;
  int objects_ = 0;
};

class Nobody final : public TraceSink {
 public:
  bool wants(ValueId /*value*/) const override { return false; }
  Status value(ValueId /*value*/, const Tensor& /*tensor*/) override { return {}; }
  void node_done(NodeId /*node*/, std::int64_t /*time_ns*/) override {}
};

constexpr std::int64_t patience_ns = 30'000'000;

// The error of a run; a device that it leaves without its objects.
std::pair<Error, std::shared_ptr<FailingDevice>> fails(Failure failure) {
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
  const auto planner = [producers](gpu::Resources& from, gpu::Device& on) {
    return webgl::Lowering(*from.graph, producers, {}, from.fallback, on).run();
  };
  auto device = std::make_shared<FailingDevice>(failure);
  gpu::GpuSession session(std::move(resources), device, planner, std::move(labels), {}, false, patience_ns);
  Nobody nobody;
  REQUIRE(session.start(bound->inputs, nobody).ok());
  const std::int64_t begin = monotonic_ns();
  while (monotonic_ns() - begin < 1000 * patience_ns) {
    auto progress = session.poll(1'000'000);
    if (!progress.ok()) return {std::move(progress).error(), device};
    REQUIRE(!progress->finished());
  }
  FAIL("the session waits forever");
  return {internal_error(""), device};
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
