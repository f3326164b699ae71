// IF with its graphs, open sizes, MediaPipe's operators: what the reader makes of them, computed.
#include <array>
#include <cmath>

#include "tests/unit/convert/tflite/file_builder.hpp"
#include "tests/unit/support/allocation_watch.hpp"
#include "tests/unit/support/mutate.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::tflite_graphs_test {
namespace {

using Code = fb::BuiltinOperator;
using Numbers = std::vector<float>;

/// a, b = c ? (x·x, x) : (x + 2, constant), with the same names in all three graphs.
std::vector<std::byte> branches(int then_graph = 1, int else_graph = 2) {
  FileBuilder file;
  const std::vector<float> two = {2, 2};
  const int c = file.tensor("c", {1}, fb::TensorType::BOOL);
  const int x = file.tensor("x", {2});
  const int a = file.tensor("a", {2});
  const int b = file.tensor("b", {2});
  const int y = file.tensor("y", {2});
  file.add_if({c, x}, {a, b}, then_graph, else_graph);
  file.add(Code::NEG, {a}, {y});
  file.end_graph({c, x}, {y, b});
  {
    const int inner = file.tensor("x", {2});
    const int square = file.tensor("a", {2});
    file.add(Code::SQUARE, {inner}, {square});
    file.end_graph({inner}, {square, inner});
  }
  const int inner = file.tensor("x", {2});
  const int constant = file.constant("two", {2}, fb::TensorType::FLOAT32, std::span<const float>(two));
  const int sum = file.tensor("a", {2});
  file.add(Code::ADD, {inner, constant}, {sum});
  return file.finish({inner}, {sum, constant});
}

Tensor truth(bool value) {
  const std::array byte = {value ? std::byte{1} : std::byte{0}};
  return *Tensor::from_bytes(DType::boolean, {1}, byte);
}

std::string failure(std::span<const std::byte> bytes) {
  const auto graph = tflite::read(bytes);
  REQUIRE_FALSE(graph.ok());
  return graph.error().message;
}

}  // namespace

TEST_CASE("TfliteReader_If_RunsTheGraphThatTheConditionChooses") {
  const Graph graph = read_tflite(branches());
  for (const bool condition : {true, false}) {
    CAPTURE(condition);
    const RunModel run = run_model(graph, {{"c", truth(condition)}, {"x", tensor<float>({2}, {3, -5})}});
    CHECK(floats(run, "y") == (condition ? Numbers{-9, -25} : Numbers{-5, 3}));
    CHECK(floats(run, "b") == (condition ? Numbers{3, -5} : Numbers{2, 2}));
  }
}

TEST_CASE("TfliteReader_IfWithGraphsThatDoNotFit_SaysWhich") {
  CHECK(failure(branches(1, 3)).find("graph 3: graph 3 of 3") != std::string::npos);
  CHECK(failure(branches(0, 2)).find("it runs graph 0") != std::string::npos);
  CHECK(failure(branches(-1, 2)).find("it runs graph -1") != std::string::npos);
  FileBuilder file;
  const int c = file.tensor("c", {1}, fb::TensorType::BOOL);
  const int x = file.tensor("x", {2});
  const int y = file.tensor("y", {2});
  file.add_if({c, x}, {y}, 1, 1);
  file.end_graph({c, x}, {y});
  const int inner = file.tensor("x", {2}, fb::TensorType::INT32);
  CHECK(failure(file.finish({inner}, {inner})).find("its input 0 is int32") != std::string::npos);
}

// A graph that runs itself, and one that doubles what is read at each of many levels.
TEST_CASE("TfliteReader_GraphsInsideGraphs_AreLimited") {
  for (const int levels : {1, 30}) {
    CAPTURE(levels);
    FileBuilder file;
    for (int level = 0; level <= levels; ++level) {
      const int c = file.tensor("c", {1}, fb::TensorType::BOOL);
      const int y = file.tensor("y", {1}, fb::TensorType::BOOL);
      const int next = std::min(level + 1, levels);
      file.add_if({c, c}, {y}, next, next);
      file.end_graph({c}, {y});
    }
    CHECK(failure(file.finish({}, {})).find("more than 8 deep") != std::string::npos);
  }
}

TEST_CASE("TfliteReader_ConstantsOfBranches_AreReadAFewTimesAtMost") {
  FileBuilder file;
  const std::vector<float> weights(1 << 20, 1.0f);
  const int c = file.tensor("c", {1}, fb::TensorType::BOOL);
  std::vector<int> outputs;
  for (int i = 0; i < 4; ++i) {
    outputs.push_back(file.tensor("y" + std::to_string(i), {1 << 20}));
    file.add_if({c}, {outputs.back()}, 1, 1);
  }
  file.end_graph({c}, outputs);
  const int w = file.constant("w", {1 << 20}, fb::TensorType::FLOAT32, std::span<const float>(weights));
  CHECK(failure(file.finish({}, {w})).find("the constants of branches") != std::string::npos);
}

TEST_CASE("TfliteReader_OpenSizes_TakeWhatTheInputHas") {
  FileBuilder file;
  const std::vector<float> weights = {1, 2, 3, 4, 5, 6};
  const std::vector<std::int32_t> shape = {-1, 3};
  const int x = file.open_tensor("x", {1, 3}, {-1, 3});
  const int s = file.constant("s", {2}, fb::TensorType::INT32, std::span<const std::int32_t>(shape));
  const int r = file.open_tensor("r", {1, 3}, {-1, 3});
  const int w = file.constant("w", {2, 3}, fb::TensorType::FLOAT32, std::span<const float>(weights));
  const int y = file.open_tensor("y", {1, 2}, {-1, 2});
  file.add(Code::RESHAPE, {x, s}, {r});
  file.add(Code::FULLY_CONNECTED, {r, w, -1}, {y}, fb::CreateFullyConnectedOptions(file.builder()),
           fb::BuiltinOptions::FullyConnectedOptions);
  const Graph graph = read_tflite(file.finish({x}, {y}));
  const Value& input = graph.values[graph.inputs[0]];
  CHECK_FALSE((*input.shape)[0].known());
  CHECK((*input.shape)[1].size == 3);
  const RunModel run = run_model(graph, {{"x", tensor<float>({2, 3}, {1, 0, 0, 0, 1, 1})}});
  CHECK(run.trace.find("y")->shape() == Shape{2, 2});
  CHECK(floats(run, "y") == Numbers{1, 4, 5, 11});
}

TEST_CASE("TfliteReader_ShapeOfMinusOne_IsOpenToo") {
  FileBuilder file;
  const int x = file.tensor("x", {-1, 2});
  const int y = file.tensor("y", {-1, 2});
  file.add(Code::NEG, {x}, {y});
  const Graph graph = read_tflite(file.finish({x}, {y}));
  CHECK(floats(run_model(graph, {{"x", tensor<float>({2, 2}, {1, 2, 3, 4})}}), "y") ==
        Numbers{-1, -2, -3, -4});
}

TEST_CASE("TfliteReader_SizesThatCannotBe_AreErrors") {
  FileBuilder negative;
  const int x = negative.tensor("x", {2, -3});
  CHECK(failure(negative.finish({x}, {x})).find("axis 1 has the size -3") != std::string::npos);
  FileBuilder constant;
  const std::vector<float> values = {1, 2};
  const int c = constant.constant("c", {-1}, fb::TensorType::FLOAT32, std::span<const float>(values));
  CHECK(failure(constant.finish({}, {c})).find("a constant of 8 bytes with an open size") !=
        std::string::npos);
}

// Shape, a slice of it, and sizes made of it: what converters write for an open batch.
TEST_CASE("TfliteReader_SlicesByComputedBounds_TakeWhatTheyName") {
  FileBuilder file;
  const std::vector<std::int32_t> one = {1};
  const int x = file.open_tensor("x", {1}, {-1});
  const int at = file.tensor("at", {1}, fb::TensorType::INT32);
  const int size = file.tensor("size", {1}, fb::TensorType::INT32);
  const int steps = file.constant("steps", {1}, fb::TensorType::INT32, std::span<const std::int32_t>(one));
  const int end = file.tensor("end", {1}, fb::TensorType::INT32);
  const int sliced = file.open_tensor("sliced", {1}, {-1});
  const int from_to = file.open_tensor("from_to", {1}, {-1});
  const int behind = file.open_tensor("behind", {1}, {-1});
  const int element = file.tensor("element", {});
  file.add(Code::SLICE, {x, at, size}, {sliced});
  file.add(Code::ADD, {at, steps}, {end});
  const auto strided = [&](int begin_mask, int end_mask, int shrink, int result) {
    file.add(Code::STRIDED_SLICE, {x, at, end, steps}, {result},
             fb::CreateStridedSliceOptions(file.builder(), begin_mask, end_mask, 0, 0, shrink),
             fb::BuiltinOptions::StridedSliceOptions);
  };
  strided(1, 0, 0, from_to);
  strided(0, 1, 0, behind);
  strided(0, 0, 1, element);
  const Graph graph = read_tflite(file.finish({x, at, size}, {sliced, from_to, behind, element}));
  const auto run = [&](std::int32_t begin, std::int32_t count) {
    return run_model(graph, {{"x", tensor<float>({4}, {1, 2, 3, 4})},
                             {"at", tensor<std::int32_t>({1}, {begin})},
                             {"size", tensor<std::int32_t>({1}, {count})}});
  };
  const RunModel first = run(1, 2);
  CHECK(floats(first, "sliced") == Numbers{2, 3});
  CHECK(floats(first, "from_to") == Numbers{1, 2});
  CHECK(floats(first, "behind") == Numbers{2, 3, 4});
  CHECK(floats(first, "element") == Numbers{2});
  const RunModel rest = run(2, -1);
  CHECK(floats(rest, "sliced") == Numbers{3, 4});
}

// The closed form: each value times the filter, added up at its place, minus what the padding cuts off.
TEST_CASE("TfliteReader_Convolution2DTransposeBias_IsTheSumOfItsParts") {
  constexpr std::int64_t height = 3, width = 4, kernel_height = 3, kernel_width = 2, in = 2, out = 3;
  const Tensor filter = random_floats({out, kernel_height, kernel_width, in}, 1);
  const Tensor bias = random_floats({out}, 2);
  const Tensor values = random_floats({1, height, width, in}, 3);
  for (const bool same : {true, false})
    for (const auto& [step_height, step_width] :
         {std::pair<std::int64_t, std::int64_t>{2, 1}, {1, 3}, {2, 2}}) {
      CAPTURE(same);
      CAPTURE(step_height);
      CAPTURE(step_width);
      const auto cut = [&](std::int64_t size, std::int64_t step, std::int64_t kernel) {
        return same ? std::max<std::int64_t>(0, kernel - (size - 1) % step - 1) : 0;
      };
      const std::int64_t cut_height = cut(height, step_height, kernel_height);
      const std::int64_t cut_width = cut(width, step_width, kernel_width);
      const std::int64_t rows = step_height * (height - 1) + kernel_height - cut_height;
      const std::int64_t columns = step_width * (width - 1) + kernel_width - cut_width;
      FileBuilder file;
      const int x = file.tensor("x", {1, height, width, in});
      const int w = file.constant("w", {out, kernel_height, kernel_width, in}, fb::TensorType::FLOAT32,
                                  filter.values<float>());
      const int b = file.constant("b", {out}, fb::TensorType::FLOAT32, bias.values<float>());
      const int y = file.tensor("y", {1, static_cast<int>(rows), static_cast<int>(columns), out});
      file.add_custom(
          "Convolution2DTransposeBias", {x, w, b}, {y},
          {same ? 1 : 2, static_cast<std::int32_t>(step_width), static_cast<std::int32_t>(step_height)});
      const RunModel run = run_model(read_tflite(file.finish({x}, {y})), {{"x", values}});
      REQUIRE(run.trace.find("y")->shape() == Shape{1, rows, columns, out});
      std::vector<double> expected(static_cast<std::size_t>(rows * columns * out));
      for (std::int64_t i = 0; i < rows * columns * out; ++i)
        expected[static_cast<std::size_t>(i)] = bias.values<float>()[static_cast<std::size_t>(i % out)];
      for (std::int64_t r = 0; r < height; ++r)
        for (std::int64_t c = 0; c < width; ++c)
          for (std::int64_t o = 0; o < out; ++o)
            for (std::int64_t p = 0; p < kernel_height; ++p)
              for (std::int64_t q = 0; q < kernel_width; ++q)
                for (std::int64_t i = 0; i < in; ++i) {
                  const std::int64_t row = r * step_height - cut_height / 2 + p;
                  const std::int64_t column = c * step_width - cut_width / 2 + q;
                  if (row < 0 || row >= rows || column < 0 || column >= columns) continue;
                  const auto at = [](std::int64_t place) { return static_cast<std::size_t>(place); };
                  expected[at((row * columns + column) * out + o)] +=
                      double{values.values<float>()[at((r * width + c) * in + i)]} *
                      filter.values<float>()[at(((o * kernel_height + p) * kernel_width + q) * in + i)];
                }
      const Numbers got = floats(run, "y");
      for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::fabs(double{got[i]} - expected[i]) <= 1e-5);
    }
}

TEST_CASE("TfliteReader_MaxPoolingWithArgmaxAndItsReverse_PutMaximaBack") {
  FileBuilder file;
  const int x = file.tensor("x", {1, 2, 4, 2});
  const int top = file.tensor("top", {1, 1, 2, 2});
  const int place = file.tensor("place", {1, 1, 2, 2});
  const int y = file.tensor("y", {1, 2, 4, 2});
  const std::vector<std::int32_t> window = {1, 2, 2, 2, 2, 0};
  file.add_custom("MaxPoolingWithArgmax2D", {x}, {top, place}, window);
  file.add_custom("MaxUnpooling2D", {top, place}, {y}, window);
  const Graph graph = read_tflite(file.finish({x}, {top, place, y}));
  // Two channels; the maxima: 5 at the first row's second place, 4 (twice: the first counts), 9, 8.
  const RunModel run = run_model(
      graph, {{"x", tensor<float>({1, 2, 4, 2}, {1, 4, 5, 0, 2, 1, 3, 8, 0, 1, 2, 4, 9, 0, 1, 2})}});
  CHECK(floats(run, "top") == Numbers{5, 4, 9, 8});
  CHECK(floats(run, "place") == Numbers{1 + 0.1f, 0.1f, 2 + 0.1f, 1 + 0.1f});
  CHECK(floats(run, "y") == Numbers{0, 4, 5, 0, 0, 0, 0, 8, 0, 0, 0, 0, 9, 0, 0, 0});
}

TEST_CASE("TfliteReader_CustomOperators_AreNamedWhereTheyAreNotRead") {
  const auto refusal = [](const std::string& name, const std::vector<std::int32_t>& options) {
    FileBuilder file;
    const int x = file.tensor("x", {1, 4, 4, 1});
    const int w = file.tensor("w", {1, 2, 2, 1});
    const int b = file.tensor("b", {1});
    const int y = file.tensor("y", {1, 4, 4, 1});
    file.add_custom(name, {x, w, b}, {y}, options);
    return failure(file.finish({x, w, b}, {y}));
  };
  CHECK(refusal("TFLite_Detection_PostProcess", {}).find("custom 'TFLite_Detection_PostProcess'") !=
        std::string::npos);
  CHECK(refusal("Convolution2DTransposeBias", {1, 2}).find("8 bytes, expected 12") != std::string::npos);
  CHECK(refusal("Convolution2DTransposeBias", {3, 2, 2}).find("its padding is 3") != std::string::npos);
  CHECK(refusal("Convolution2DTransposeBias", {1, 0, 2}).find("steps of 2 x 0") != std::string::npos);
  CHECK(refusal("MaxUnpooling2D", {1, 1, 2, 2, 2, 0}).find("side by side") != std::string::npos);
  CHECK(refusal("MaxUnpooling2D", {1, 2, 2, 1025, 2, 0}).find("windows of 2 x 1025") != std::string::npos);
}

TEST_CASE("TfliteReader_DamagedGraphs_AreErrorsAtMost" * doctest::test_suite("slow")) {
  const std::uint64_t seed = test_seed(20263);
  SEED_INFO(seed);
  Rng rng(seed);
  const auto good = branches();
  const AllocationWatch watch;
  for (int i = 0; i < repetitions(3000); ++i) {
    const auto graph = tflite::read(mutated(good, rng));
    if (!graph.ok()) continue;
    const auto onnx = tf::to_onnx(*graph);
    if (!onnx.ok()) continue;
    auto built_graph = build_graph(*onnx);
    if (built_graph.ok()) (void)infer_shapes(*std::move(built_graph));
  }
  CHECK(watch.largest() < std::size_t{64} << 20);
}

// The fuzzer's seeds reach these operators only as long as they are read.
TEST_CASE("TfliteReader_SeedsOfTheFuzzer_AreRead") {
  for (const char* name : {"If", "MediaPipe", "Slices"}) {
    CAPTURE(name);
    const auto bytes = repository_file(std::string("tests/fuzz/corpus/converted/") + name + ".tflite");
    const auto graph = tflite::read(bytes);
    REQUIRE_MESSAGE(graph.ok(), graph.error().message);
    const auto onnx = tf::to_onnx(*graph);
    CHECK_MESSAGE(onnx.ok(), onnx.error().message);
  }
}

}  // namespace driftscope::test::tflite_graphs_test
