// Layers beside the range of float16: results, sums on the way, what becomes 0, overflow that is hidden.
#include "core/verify/float16_ranges.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/eval/evaluate.hpp"
#include "core/model/element.hpp"
#include "core/report/float16_table.hpp"
#include "core/verify/partial_sums.hpp"
#include "tests/unit/support/model_builder.hpp"
#include "tests/unit/support/random_tensor.hpp"

namespace driftscope::test::float16_ranges_test {
namespace {

Tensor half(const Shape& shape, const std::vector<float>& values) {
  Tensor made = *Tensor::make(DType::float16, shape);
  const auto to = made.mutable_values<std::uint16_t>();
  for (std::size_t i = 0; i < values.size(); ++i) to[i] = Element<DType::float16>::nearest(values[i]);
  return made;
}

std::vector<Float16Range> ranges_of(const Graph& graph, std::vector<NamedTensor> tensors) {
  Trace trace;
  trace.tensors = std::move(tensors);
  ThreadPool threads(2);
  auto ranges = float16_ranges(graph, TraceView(trace), threads);
  REQUIRE_MESSAGE(ranges.ok(), ranges.error().message);
  return *std::move(ranges);
}

const std::vector<float> big_and_back = {40000.0f, 40000.0f, -40000.0f, -39990.0f};

PartialSums sums_of(const Graph& graph, const std::vector<Tensor>& inputs, const Shape& y) {
  std::vector<const Tensor*> read;
  for (const Tensor& one : inputs) read.push_back(&one);
  ThreadPool threads(2);
  const auto sums = partial_sums(graph.nodes[0], read, y, threads);
  REQUIRE(sums);
  return *sums;
}

}  // namespace

TEST_CASE("Float16Ranges_SumThatComesBack_HasLargePartialSumAndSmallResult") {
  const Graph graph = built(ModelBuilder()
                                .input("x", DType::float32, {1, 4})
                                .initializer("w", tensor<float>({4, 1}, {1, 1, 1, 1}))
                                .node("MatMul", {"x", "w"}, {"y"})
                                .output("y"));
  const auto ranges =
      ranges_of(graph, {{"x", tensor<float>({1, 4}, big_and_back)}, {"y", tensor<float>({1, 1}, {10.0f})}});
  REQUIRE(ranges.size() == 1);
  CHECK(ranges[0].largest == 10.0);
  CHECK(ranges[0].partial_sum == 80000.0);
  CHECK(ranges[0].any_order == 80000.0);
  CHECK(ranges[0].headroom == doctest::Approx(65504.0 / 80000.0));
  CHECK_FALSE(ranges[0].absorbed);  // it ran in float32
  const std::string text = float16_table(ranges);
  CHECK(text.find("of a partial sum") != std::string::npos);
  CHECK(text.find("would overflow in float16: 1 layer, first ") != std::string::npos);
}

TEST_CASE("Float16Ranges_OrderMatters_BothAreSaid") {
  const Graph graph = built(ModelBuilder()
                                .input("x", DType::float32, {1, 4})
                                .initializer("w", tensor<float>({4, 1}, {1, 1, 1, 1}))
                                .node("MatMul", {"x", "w"}, {"y"})
                                .output("y"));
  const auto ranges = ranges_of(graph, {{"x", tensor<float>({1, 4}, {40000, -40000, 40000, -40000})},
                                        {"y", tensor<float>({1, 1}, {0.0f})}});
  CHECK(ranges[0].partial_sum == 40000.0);
  CHECK(ranges[0].any_order == 80000.0);
  CHECK(float16_table(ranges).find("would overflow in another order of summation") != std::string::npos);
}

// As onnxruntime#31626: the variance is infinite, the division hides it, and the layer returns its bias.
TEST_CASE("Float16Ranges_VarianceThatOverflows_IsAbsorbed") {
  const Graph graph = built(ModelBuilder()
                                .opset(17)
                                .input("x", DType::float16, {1, 4})
                                .initializer("scale", half({4}, {1, 1, 1, 1}))
                                .initializer("bias", half({4}, {0.5f, 0.5f, 0.5f, 0.5f}))
                                .node("LayerNormalization", {"x", "scale", "bias"}, {"y"})
                                .output("y"));
  const auto ranges = ranges_of(
      graph, {{"x", half({1, 4}, {400, -400, 400, -400})}, {"y", half({1, 4}, {0.5f, 0.5f, 0.5f, 0.5f})}});
  REQUIRE(ranges.size() == 1);
  CHECK(ranges[0].partial_sum == 4 * 160000.0);
  CHECK(ranges[0].headroom < 1.0);
  CHECK(ranges[0].absorbed);
  CHECK(float16_table(ranges).find("of a partial sum, absorbed") != std::string::npos);
}

TEST_CASE("Float16Ranges_InfinityThatALaterLayerHides_IsAbsorbedAtItsLayer") {
  const Graph graph = built(ModelBuilder()
                                .input("x", DType::float16, {3})
                                .node("Mul", {"x", "x"}, {"a"})
                                .node("Reciprocal", {"a"}, {"y"})
                                .output("y"));
  const float infinity = HUGE_VALF;
  const auto ranges = ranges_of(
      graph,
      {{"x", half({3}, {300, 2, 1})}, {"a", half({3}, {infinity, 4, 1})}, {"y", half({3}, {0, 0.25f, 1})}});
  REQUIRE(ranges.size() == 2);
  CHECK(ranges[0].overflows == 1);
  CHECK(ranges[0].largest == 90000.0);
  CHECK(ranges[0].absorbed);
  CHECK_FALSE(ranges[1].absorbed);
}

TEST_CASE("Float16Ranges_SmallNumbers_AreCounted") {
  const Graph graph =
      built(ModelBuilder().input("x", DType::float32, {5}).node("Mul", {"x", "x"}, {"y"}).output("y"));
  const float tiny = 0x1p-13f;  // squared: 2⁻²⁶
  const auto ranges =
      ranges_of(graph, {{"x", tensor<float>({5}, {tiny, 0x1p-12f, 0.0f, 1.0f, tiny})},
                        {"y", tensor<float>({5}, {tiny * tiny, 0x1p-24f, 0, 1, tiny * tiny})}});
  CHECK(ranges[0].below == 2);
  CHECK(float16_table(ranges).find("2 of 5") != std::string::npos);
}

// Sums of a convolution and of reductions against loops.
TEST_CASE("PartialSums_OfConvolutionAndReductions_AreThoseOfPlainLoops") {
  Rng rng(3);
  const Tensor x = random_tensor(rng, {1, 2, 4, 5});
  const Tensor w = random_tensor(rng, {3, 2, 3, 3});
  const Graph conv = built(ModelBuilder()
                               .input("x", DType::float32, {1, 2, 4, 5})
                               .input("w", DType::float32, {3, 2, 3, 3})
                               .node("Conv", {"x", "w"}, {"y"})
                               .output("y"));
  const auto a = x.values<float>();
  const auto b = w.values<float>();
  double largest = 0.0;
  for (std::size_t m = 0; m < 3; ++m)
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j < 3; ++j) {
        double sum = 0.0;
        for (std::size_t c = 0; c < 2; ++c)
          for (std::size_t k = 0; k < 9; ++k) {
            const std::size_t place = (c * 4 + i + k / 3) * 5 + j + k % 3;
            sum += static_cast<double>(a[place]) * static_cast<double>(b[(m * 2 + c) * 9 + k]);
            largest = std::fmax(largest, std::fabs(sum));
          }
      }
  const PartialSums of_conv = sums_of(conv, {x, w}, {1, 3, 2, 3});
  CHECK(of_conv.largest == largest);
  CHECK(of_conv.any_order >= of_conv.largest);
  CHECK(of_conv.sums == 18);

  const Graph mean = built(ModelBuilder()
                               .input("x", DType::float32, {1, 2, 4, 5})
                               .initializer("axes", tensor<std::int64_t>({2}, {1, -1}))
                               .node("ReduceMean", {"x", "axes"}, {"y"})
                               .output("y"));
  largest = 0.0;
  for (std::size_t i = 0; i < 4; ++i) {
    double sum = 0.0;
    for (std::size_t c = 0; c < 2; ++c)
      for (std::size_t j = 0; j < 5; ++j) {
        sum += static_cast<double>(a[(c * 4 + i) * 5 + j]);
        largest = std::fmax(largest, std::fabs(sum));
      }
  }
  const PartialSums of_mean = sums_of(mean, {x, tensor<std::int64_t>({2}, {1, -1})}, {1, 1, 4, 1});
  CHECK(of_mean.largest == largest);
  CHECK(of_mean.sums == 4);
  ThreadPool threads(1);
  const Graph relu =
      built(ModelBuilder().input("x", DType::float32, {1, 2, 4, 5}).node("Relu", {"x"}, {"y"}).output("y"));
  const Tensor* const read = &x;
  CHECK_FALSE(partial_sums(relu.nodes[0], {&read, 1}, x.shape(), threads));
}

}  // namespace driftscope::test::float16_ranges_test
