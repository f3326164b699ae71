// Runs of samples on a model that stays prepared, beside runs that load it again.
#include "native/host/prepared_model.hpp"

#include <doctest/doctest.h>

#include <array>
#include <functional>

#include "native/host/target_runner.hpp"
#include "unit/support/model_builder.hpp"

namespace driftscope::test::prepared_model_test {
namespace {

ModelFile model_of(ModelBuilder builder) {
  const auto bytes = builder.bytes();
  auto loaded = load_model_bytes("made.onnx", "made.onnx", SharedBytes(Bytes(bytes)), {});
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  return *std::move(loaded);
}

// x [N, 3] times a matrix, and a constant.
ModelFile affine(float constant) {
  ModelBuilder builder;
  builder.input("x", DType::float32, {"N", 3})
      .initializer("w", tensor<float>({3, 2}, {1.5f, -2.0f, 0.25f, 3.0f, 0.1f, 7.0f}))
      .initializer("c", tensor<float>({}, {constant}))
      .node("MatMul", {"x", "w"}, {"p"})
      .node("Add", {"p", "c"}, {"y"})
      .output("y");
  return model_of(builder);
}

struct Asked {
  std::vector<float> y;
  std::string error;
  std::int64_t loads = 0;
};

struct World {
  Target target = *parse_target("pc/strict");
  TargetRunner runner{RunnerOptions()};

  Asked ask(const ModelFile& model, std::int64_t samples, std::int64_t rows, bool keeps,
            const std::function<bool()>& stopped = {}) {
    std::vector<float> x(static_cast<std::size_t>(samples * rows * 3));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.1f * static_cast<float>(i) - 0.4f;
    RunRequest request;
    request.model = &model;
    request.inputs = {{"x", tensor<float>({samples, rows, 3}, x)}};
    request.plan.samples = samples;
    request.plan.capture = messages::Capture::outputs;
    request.keeps_prepared = keeps;
    request.stopped = stopped;
    Asked result;
    const auto trace = runner.run(target, request, [&](std::string_view step, std::int64_t, std::int64_t) {
      result.loads += step == "loading the model" ? 1 : 0;
    });
    if (!trace.ok()) {
      result.error = trace.error().message;
      return result;
    }
    CHECK(trace->target == "pc/strict");
    CHECK(trace->model_sha256 == model.sha256);
    const Tensor* const y = trace->find("y");
    REQUIRE(y != nullptr);
    CHECK(y->shape() == Shape{samples, rows, 2});
    const auto values = y->values<float>();
    result.y.assign(values.begin(), values.end());
    return result;
  }
};

}  // namespace

TEST_CASE("PreparedModel_AnswersAsOneThatIsLoadedAgain") {
  const ModelFile model = affine(0.5f);
  World kept, again;
  // Any number of samples, of the shape that it was prepared for; another shape prepares it anew.
  const std::array<std::array<std::int64_t, 3>, 5> asked = {
      {{1, 2, 1}, {4, 2, 0}, {2, 2, 0}, {3, 1, 1}, {5, 1, 0}}};
  for (const auto& [samples, rows, loads] : asked) {
    CAPTURE(samples);
    CAPTURE(rows);
    const Asked one = kept.ask(model, samples, rows, true);
    CHECK(one.loads == loads);
    CHECK(one.y == again.ask(model, samples, rows, false).y);
  }
  const ModelFile other = affine(-3.0f);
  const Asked one = kept.ask(other, 5, 1, true);
  CHECK(one.loads == 1);
  CHECK(one.y == again.ask(other, 5, 1, false).y);
}

TEST_CASE("PreparedModel_IsLetGo") {
  const ModelFile model = affine(0.5f);
  World world;
  CHECK(world.ask(model, 2, 1, true).loads == 1);
  world.runner.drop_prepared();
  CHECK(world.ask(model, 2, 1, true).loads == 1);
  CHECK(world.ask(model, 2, 1, false).loads == 1);  // a run of another kind needs the memory
  CHECK(world.ask(model, 2, 1, true).loads == 1);
  // One that was stopped is in the middle of a sample.
  CHECK(world.ask(model, 2, 1, true, [] { return true; }).error == "stopped");
  const Asked after = world.ask(model, 2, 1, true);
  CHECK(after.loads == 1);
  CHECK(after.y == world.ask(model, 2, 1, false).y);
}

TEST_CASE("PreparedModel_BadSamples_AreRefused") {
  const ModelFile model = affine(0.5f);
  const Target target = *parse_target("pc/strict");
  const TargetProgress quiet = [](std::string_view, std::int64_t, std::int64_t) {};
  RunRequest request;
  request.model = &model;
  request.inputs = {{"x", tensor<float>({2, 1, 3}, std::vector<float>(6, 1.0f))}};
  CHECK_FALSE(PreparedModel::prepare(request, target, quiet).ok());  // no samples at all
  request.plan.samples = 3;
  const auto other = PreparedModel::prepare(request, target, quiet);
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().message == "input x: expected a leading axis of 3 samples, got 2x1x3");
  request.plan.samples = 2;
  CHECK(PreparedModel::prepare(request, target, quiet).ok());
  CHECK_FALSE(PreparedModel::prepare(request, *parse_target("pc/strict:speed=9"), quiet).ok());
}

}  // namespace driftscope::test::prepared_model_test
