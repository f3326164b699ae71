// What the writer writes the reader reads: the models compute the same.
#include <doctest/doctest.h>

#include "core/convert/tflite/reader/read.hpp"
#include "core/convert/tflite/to_tflite.hpp"
#include "tests/unit/convert/read_back.hpp"
#include "tests/unit/support/random_tensor.hpp"

namespace driftscope::test {
namespace {

Graph written_and_read(const Graph& graph) {
  const auto inputs = seeded_inputs(graph, 7);
  REQUIRE(inputs.ok());
  const auto bound = bind_inputs(graph, *inputs);
  REQUIRE(bound.ok());
  const auto model = tflite::to_tflite(*bound->graph, {});
  REQUIRE_MESSAGE(model.ok(), model.error().message);
  const auto read = tflite::read(model->files[0].bytes);
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  return as_onnx(*read);
}

}  // namespace

TEST_CASE("TfliteReader_SmallNetwork_ComputesWhatTheOriginalDoes") {
  const Graph graph = inferred(small_network());
  expect_same(check_against(graph, written_and_read(graph)), 1);
}

TEST_CASE("TfliteReader_Models_ComputeWhatTheOriginalsDo" * doctest::test_suite("slow")) {
  for (const char* name : {"lenet5", "textcnn", "resnet20", "unet"}) {
    CAPTURE(name);
    auto graph = infer_shapes(built(repository_file(std::string("assets/models/") + name + ".onnx")));
    REQUIRE(graph.ok());
    expect_same(check_against(*graph, written_and_read(*graph)), 1);
  }
}

TEST_CASE("TfliteReader_ConvolutionOfThreeDimensions_ComputesWhatTheOriginalDoes") {
  Rng rng(3);
  const Graph graph = inferred(ModelBuilder()
                                   .input("x", DType::float32, {1, 2, 5, 6, 7})
                                   .initializer("w", random_tensor(rng, {3, 2, 3, 2, 2}))
                                   .initializer("b", random_tensor(rng, {3}))
                                   .node("Conv", {"x", "w", "b"}, {"y"}, {ints("strides", {1, 2, 1})})
                                   .output("y"));
  expect_same(check_against(graph, written_and_read(graph)), 1);
}

}  // namespace driftscope::test
