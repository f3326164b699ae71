// Activations of a small model: neurons are means of channels, scores are those before a Softmax.
#include <doctest/doctest.h>

#include <vector>

#include "core/mutants/activation_runner.hpp"
#include "unit/support/model_builder.hpp"

namespace driftscope::test::activation_runner_test {
namespace {

Preprocess plain() {
  Preprocess how;
  how.input = "x";
  how.channels = 1;
  how.height = 2;
  how.width = 2;
  how.mean = {0.0f};
  how.std = {1.0f};
  return how;
}

/// Two channels, of factors 1 and −2; the scores are their means.
Graph model(bool softmax, Dim batch) {
  ModelBuilder builder("tiny");
  const std::vector<float> weights = {1.0f, -2.0f};
  builder.input("x", DType::float32, {batch, 1, 2, 2})
      .initializer("w", tensor<float>({2, 1, 1, 1}, weights))
      .node("Conv", {"x", "w"}, {"c"})
      .node("GlobalAveragePool", {"c"}, {"p"})
      .node("Flatten", {"p"}, {"scores"});
  if (softmax) builder.node("Softmax", {"scores"}, {"y"}, {integer("axis", 1)});
  return built(builder.output(softmax ? "y" : "scores").bytes());
}

TEST_CASE("Activations_AreMeansOfChannelsAndScores") {
  std::vector<StoredPicture> pictures;
  for (int i = 0; i < 7; ++i) {
    const auto first = static_cast<std::uint8_t>(i);
    pictures.push_back({.channels = 1, .height = 2, .width = 2, .pixels = {first, 2, 4, 6}});
  }
  std::vector<const StoredPicture*> pointers;
  for (const StoredPicture& picture : pictures) pointers.push_back(&picture);
  for (const bool softmax : {false, true})
    for (const Dim& batch : {Dim("N"), Dim(1)}) {
      auto runner = ActivationRunner::make(model(softmax, batch), plain(), "strict", 3);
      REQUIRE_MESSAGE(runner.ok(), (runner.ok() ? "" : runner.error().message));
      CHECK(runner->neurons() == 4);  // of the convolution, and the same of the pooling
      const auto runs = runner->run(pointers);
      REQUIRE(runs.ok());
      REQUIRE(runs->size() == 7);
      for (std::size_t i = 0; i < 7; ++i) {
        const float mean = (static_cast<float>(i) + 12) / 4;
        CHECK((*runs)[i].neurons == std::vector<float>{mean, -2 * mean, mean, -2 * mean});
        CHECK((*runs)[i].outputs == std::vector<float>{mean, -2 * mean});
      }
    }
}

TEST_CASE("Activations_OfWhatHasNone_AreAnError") {
  const Graph graph = built(ModelBuilder("tiny")
                                .input("x", DType::float32, {"N", 1, 2, 2})
                                .node("Relu", {"x"}, {"r"})
                                .node("Flatten", {"r"}, {"y"})
                                .output("y")
                                .bytes());
  const auto runner = ActivationRunner::make(graph, plain(), "strict", 3);
  REQUIRE_FALSE(runner.ok());
  CHECK(runner.error().message.find("no layer whose neurons count") != std::string::npos);
  CHECK_FALSE(ActivationRunner::make(graph, plain(), "unknown", 3).ok());
}

}  // namespace
}  // namespace driftscope::test::activation_runner_test
