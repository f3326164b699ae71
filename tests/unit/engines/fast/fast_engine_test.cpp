// The fast engine against verify and against strict: whole networks, fused and node by node.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "core/platform/platform.hpp"
#include "tests/unit/engines/fast/run_engine.hpp"
#include "tests/unit/support/random_tensor.hpp"
#include "tests/unit/support/seed.hpp"
#include "tests/unit/verify/small_nets.hpp"

namespace driftscope::test::fast_engine_test {

// Weights of more than a second-level cache: the convolution runs in parts, the last one smaller.
TEST_CASE("FastEngine_ConvolutionOfManyWeights_IsClean") {
  Rng rng(3);
  const auto random = [&](Shape shape) { return random_tensor(rng, std::move(shape)); };
  ModelBuilder model("parts");
  model.input("x", DType::float32, {2, 150, 7, 9})
      .initializer("w", random({266, 150, 3, 3}))
      .initializer("b", random({266}))
      .node("Conv", {"x", "w", "b"}, {"y"}, {ints("pads", {1, 0, 1, 2}), ints("strides", {1, 2})})
      .node("Relu", {"y"}, {"z"})
      .output("z");
  const Graph graph = built(model.bytes());
  const NamedInputs inputs{{"x", random({2, 150, 7, 9})}};
  ThreadPool threads(2);
  for (const Capture capture : {Capture::all, Capture::fused})
    for (int count = 1; count <= repetitions(3); ++count)
      check_clean(graph, run_engine(graph, inputs, capture, count), threads);
}

// Large constants are freed once packed, but not while other nodes still have to read them.
TEST_CASE("FastEngine_WeightThatIsReadLater_IsThere") {
  Rng rng(4);
  const auto random = [&](Shape shape) { return random_tensor(rng, std::move(shape)); };
  const auto integers = [&](Shape shape) {
    std::vector<std::int8_t> values(static_cast<std::size_t>(element_count(shape)));
    for (std::int8_t& x : values) x = static_cast<std::int8_t>(static_cast<int>(rng.below(255)) - 127);
    return tensor<std::int8_t>(std::move(shape), values);
  };
  ThreadPool threads(2);
  const auto check = [&](ModelBuilder& model, const NamedInputs& inputs) {
    const Graph graph = built(model.bytes());
    for (const Capture capture : {Capture::all, Capture::fused})
      check_clean(graph, run_engine(graph, inputs, capture, 2), threads);
  };
  SUBCASE("it is an output as well") {
    ModelBuilder model("output");
    model.input("x", DType::float32, {2, 80})
        .initializer("w", random({80, 90}))
        .node("MatMul", {"x", "w"}, {"y"})
        .output("y")
        .output("w");
    check(model, {{"x", random({2, 80})}});
  }
  SUBCASE("a DequantizeLinear that waits for its reader reads it") {
    ModelBuilder model("waits");
    const std::vector<float> scales(5000, 0.02f);
    model.opset(17)
        .input("x", DType::float32, {1, 1, 2, 2})
        .input("i", DType::int8, {1, 5000, 2, 2})
        .initializer("w", random({5000, 1, 1, 1}))
        .initializer("s", tensor<float>({5000}, scales))
        .node("DequantizeLinear", {"i", "s"}, {"real"})
        .node("Conv", {"x", "w", "s"}, {"product"})
        .node("Add", {"product", "real"}, {"y"})
        .output("y");
    check(model, {{"x", random({1, 1, 2, 2})}, {"i", integers({1, 5000, 2, 2})}});
  }
}

TEST_CASE("FastEngine_ConvolutionalNet_IsNeverSuspect") {
  const std::uint64_t first = test_seed(20261121);
  SEED_INFO(first);
  ThreadPool threads(2);
  for (std::uint64_t seed = first; seed < first + repetitions(8); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const Shape shape = {static_cast<std::int64_t>(1 + rng.below(2)), 3,
                         static_cast<std::int64_t>(9 + rng.below(8)),
                         static_cast<std::int64_t>(9 + rng.below(8))};
    const Graph graph = convolutional_net(rng, shape);
    const NamedInputs inputs = {{"x", drawn(shape, all_kinds[seed % all_kinds.size()], rng)}};
    for (const int count : {1, 2})
      for (const Capture capture : {Capture::all, Capture::fused, Capture::outputs}) {
        CAPTURE(count);
        CAPTURE(static_cast<int>(capture));
        check_clean(graph, run_engine(graph, inputs, capture, count), threads);
      }
  }
}

TEST_CASE("FastEngine_NodeByNode_HandsOverEveryValue") {
  Rng rng(3);
  const Shape shape = {1, 3, 12, 12};
  const Graph graph = convolutional_net(rng, shape);
  const NamedInputs inputs = {{"x", drawn(shape, Kind::normal, rng)}};
  CHECK(names_of(run_engine(graph, inputs, Capture::all, 1)) ==
        names_of(run_engine(graph, inputs, Capture::all, 1, "strict")));
}

TEST_CASE("FastEngine_DeferredValues_AreTheSameBits") {
  Rng rng(5);
  const Shape shape = {2, 3, 12, 12};
  check_deferred(convolutional_net(rng, shape), {{"x", drawn(shape, Kind::normal, rng)}}, 4);
}

TEST_CASE("FastEngine_Fused_HandsOverWhatExists") {
  Rng rng(3);
  const Shape shape = {1, 3, 12, 12};
  const Graph graph = convolutional_net(rng, shape);
  const NamedInputs inputs = {{"x", drawn(shape, Kind::normal, rng)}};
  const std::set<std::string> names = names_of(run_engine(graph, inputs, Capture::fused, 1));
  CHECK(names.contains("n2"));  // the convolution that absorbed its normalization
  CHECK(!names.contains("c2"));
  CHECK(names.contains("c1"));  // read by two nodes: not fused
  CHECK(names.contains("r1"));
  CHECK(names.contains("y"));
}

TEST_CASE("FastEngine_NothingForStrict_SaysNothing") {
  Rng rng(3);
  const Shape shape = {1, 3, 12, 12};
  RanWith ran;
  run_engine(convolutional_net(rng, shape), {{"x", drawn(shape, Kind::normal, rng)}}, Capture::all, 2, "fast",
             &ran);
  CHECK(ran.engine == "fast");
  CHECK(ran.options.count("on_strict") == 0);
  CHECK(ran.threads_asked == 2);
  CHECK(ran.threads_real == (threads_available() ? 2 : 1));
}

TEST_CASE("FastEngine_WhatXnnpackLacks_RunsOnStrictAndIsNamed") {
  const Graph graph = built(ModelBuilder()
                                .input("x", DType::float32, {1, 2, 3, 4})
                                .node("Cos", {"x"}, {"a"})
                                .node("Relu", {"a"}, {"b"})
                                .node("CumSum", {"b", "axis"}, {"c"})
                                .initializer("axis", tensor<std::int64_t>({}, {1}))
                                .node("Cos", {"c"}, {"y"})
                                .output("y"));
  Rng rng(1);
  const NamedInputs inputs = {{"x", drawn({1, 2, 3, 4}, Kind::normal, rng)}};
  RanWith ran;
  ThreadPool threads(1);
  check_clean(graph, run_engine(graph, inputs, Capture::all, 1, "fast", &ran), threads);
  CHECK(ran.options.at("on_strict") == "Cos 2, CumSum 1");
}

TEST_CASE("FastEngine_ReductionOfAScalar_IsClean") {
  ThreadPool threads(1);
  for (const char* op : {"ReduceSum", "ReduceMean"}) {
    CAPTURE(op);
    ModelBuilder model;
    model.opset(20);
    model.input("x", DType::float32, {});
    model.node(op, {"x"}, {"y"});
    model.output("y");
    const Graph graph = built(model);
    const NamedInputs inputs = {{"x", *Tensor::from_values<float>({}, std::array{2.5f})}};
    for (const Capture capture : {Capture::all, Capture::outputs})
      check_clean(graph, run_engine(graph, inputs, capture, 1), threads);
  }
}

TEST_CASE("FastEngine_DeclaredShapeOfWhatDependsOnData_IsNotBelieved") {
  ThreadPool threads(1);
  // Unique leaves two numbers of four; the file says that the concatenation has this many, not six.
  for (const std::int64_t declared : {3, 6, 100'000}) {
    CAPTURE(declared);
    ModelBuilder model;
    model.input("x", DType::float32, {4});
    model.node("Unique", {"x"}, {"u"});
    model.node("Concat", {"u", "x"}, {"c"}, {integer("axis", 0)});
    model.node("Abs", {"c"}, {"y"});
    model.value_info("c", DType::float32, {declared});
    model.output("y", DType::float32, {declared});
    const Graph graph = built(model);
    const NamedInputs inputs = {{"x", tensor<float>({4}, {-1.0f, 2.0f, 2.0f, -1.0f})}};
    for (const Capture capture : {Capture::all, Capture::outputs}) {
      const Trace trace = run_engine(graph, inputs, capture, 1);
      REQUIRE(trace.find("y") != nullptr);
      CHECK(trace.find("y")->shape() == Shape{6});
      check_clean(graph, trace, threads);
    }
  }
}

TEST_CASE("FastEngine_FunctionsOfSpecialValues_AreClean") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> values{nan,   -nan,   infinity, -infinity, 0.0f,   -0.0f,   1e-40f, -1e-40f,
                            1e38f, -1e38f, 100.0f,   -100.0f,   1e-30f, -1e-30f, 0.5f};
  while (values.size() < 45) values.push_back(values[values.size() - 15]);
  const auto count = static_cast<std::int64_t>(values.size());
  ThreadPool threads(1);
  for (const char* op : {"Relu", "Clip", "Elu", "LeakyRelu", "Abs", "Ceil", "Exp", "Floor", "HardSwish",
                         "Log", "Neg", "Round", "Sigmoid", "Sqrt", "Tanh"}) {
    CAPTURE(op);
    const Graph graph =
        built(ModelBuilder().input("x", DType::float32, {1, count}).node(op, {"x"}, {"y"}).output("y"));
    check_clean(graph, run_engine(graph, {{"x", tensor<float>({1, count}, values)}}, Capture::all, 1),
                threads);
  }
}

// Five nodes that run as one: the group is judged as a whole.
TEST_CASE("FastEngine_GeluOfFiveNodes_IsOneAndClean") {
  Rng rng(5);
  const Shape shape = {4, 33};
  const Graph graph = built(ModelBuilder()
                                .opset(17)
                                .input("x", DType::float32, {4, 33})
                                .initializer("root", tensor<float>({}, {1.41421354f}))
                                .initializer("one", tensor<float>({}, {1.0f}))
                                .initializer("half", tensor<float>({}, {0.5f}))
                                .node("Div", {"x", "root"}, {"a"})
                                .node("Erf", {"a"}, {"e"})
                                .node("Add", {"e", "one"}, {"s"})
                                .node("Mul", {"x", "s"}, {"p"})
                                .node("Mul", {"p", "half"}, {"y"})
                                .output("y"));
  ThreadPool threads(1);
  for (const float scale : {0.01f, 1.0f, 4.0f, 30.0f}) {
    CAPTURE(scale);
    Tensor x = drawn(shape, Kind::normal, rng);
    for (float& value : x.mutable_values<float>()) value *= scale;
    const NamedInputs inputs = {{"x", x}};
    const Trace fused = run_engine(graph, inputs, Capture::fused, 1);
    CHECK(names_of(fused).count("e") == 0);
    check_clean(graph, fused, threads);
    const Trace all = run_engine(graph, inputs, Capture::all, 1);
    CHECK(names_of(all).count("e") == 1);
    check_clean(graph, all, threads);
  }
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  Tensor special = drawn(shape, Kind::normal, rng);
  const std::array values = {nan,   infinity, -infinity, 0.0f,    -0.0f,  1e-40f, -1e-40f,
                             1e38f, -1e38f,   100.0f,    -100.0f, 1e-30f, -1e-30f};
  for (std::size_t i = 0; i < 132; ++i)
    if (i % 2 == 0) special.mutable_values<float>()[i] = values[i / 2 % values.size()];
  check_clean(graph, run_engine(graph, {{"x", special}}, Capture::fused, 1), threads);
}

// A block of a residual network: two convolutions, a skip connection.
Graph residual_block(Rng& rng, std::int64_t channels, std::int64_t kernel, std::int64_t size) {
  const Shape weights = {channels, channels, kernel, kernel};
  const float scale = 1.0f / std::sqrt(static_cast<float>(channels * kernel * kernel));
  const std::int64_t pad = kernel / 2;
  return built(ModelBuilder()
                   .input("x", DType::float32, {1, channels, size, size + 3})
                   .initializer("w", drawn(weights, Kind::normal, rng, scale))
                   .initializer("b", drawn({channels}, Kind::normal, rng))
                   .initializer("v", drawn(weights, Kind::normal, rng, scale))
                   .node("Conv", {"x", "w", "b"}, {"c"}, {ints("pads", {pad, pad, pad, pad})})
                   .node("Relu", {"c"}, {"r"})
                   .node("Conv", {"r", "v"}, {"d"}, {ints("pads", {pad, pad, pad, pad})})
                   .node("Add", {"d", "x"}, {"s"})
                   .node("Relu", {"s"}, {"y"})
                   .output("y"));
}

TEST_CASE("FastEngine_ConvolutionsByWinograd_AreRounding" * doctest::test_suite("slow")) {
  const std::uint64_t first = test_seed(11);
  SEED_INFO(first);
  ThreadPool threads(1);
  for (std::uint64_t seed = first; seed < first + repetitions(10); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const std::int64_t kernel = seed % 3 == 0 ? 5 : 3;
    const auto channels = static_cast<std::int64_t>(40 + rng.below(40));  // chosen at any width of vectors
    const auto size = static_cast<std::int64_t>(18 + rng.below(20));
    const Graph graph = residual_block(rng, channels, kernel, size);
    Tensor x = drawn({1, channels, size, size + 3}, seed % 4 == 1 ? Kind::image : Kind::normal, rng);
    if (seed % 4 == 2)
      for (const float special : {std::numeric_limits<float>::quiet_NaN(), 1e30f, -1e30f})
        x.mutable_values<float>()[rng.below(static_cast<std::uint32_t>(x.elements()))] = special;
    for (const Capture capture : {Capture::all, Capture::fused, Capture::outputs}) {
      CAPTURE(static_cast<int>(capture));
      RanWith ran;
      const Trace trace = run_engine(graph, {{"x", x}}, capture, 2, "fast", &ran);
      CHECK(ran.options.at("by_winograd").starts_with("F("));
      check_clean(graph, trace, threads);
    }
  }
}

TEST_CASE("FastEngine_RecurrentNets_AreNeverSuspect") {
  const std::uint64_t first = test_seed(9);
  SEED_INFO(first);
  ThreadPool threads(1);
  for (std::uint64_t seed = first; seed < first + repetitions(12); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const char* const op = std::array{"LSTM", "GRU", "RNN"}[seed % 3];
    const std::int64_t gates = std::array{4, 3, 1}[seed % 3];
    // Every other one is large enough for threads to share a step.
    const auto hidden = static_cast<std::int64_t>(1 + rng.below(70)) + (seed % 4 < 2 ? 0 : 110);
    const std::int64_t directions = seed % 2 == 0 ? 2 : 1;
    const Shape x = {7, static_cast<std::int64_t>(1 + rng.below(3)), 11};
    std::vector<Attribute> attributes = {integer("hidden_size", hidden),
                                         text("direction", directions == 2 ? "bidirectional" : "reverse")};
    if (seed % 3 == 1) attributes.push_back(integer("linear_before_reset", seed % 4 == 0 ? 0 : 1));
    ModelBuilder model;
    model.input("x", DType::float32, {x[0], x[1], x[2]})
        .initializer("w", drawn({directions, gates * hidden, 11}, Kind::normal, rng, 0.3f))
        .initializer("r", drawn({directions, gates * hidden, hidden}, Kind::normal, rng, 0.2f))
        .initializer("b", drawn({directions, 2 * gates * hidden}, Kind::normal, rng, 0.3f))
        .initializer("h", drawn({directions, x[1], hidden}, Kind::normal, rng))
        .node(op, {"x", "w", "r", "b", "", "h"}, {"y", "last"}, attributes)
        .output("y")
        .output("last");
    const Graph graph = built(model);
    RanWith ran;
    const NamedInputs inputs = {{"x", drawn(x, Kind::normal, rng)}};
    const Trace alone = run_engine(graph, inputs, Capture::all, 1, "fast", &ran);
    check_clean(graph, alone, threads);
    CHECK(ran.options.count("on_strict") == 0);
    // More threads than sequences share steps, fewer take sequences.
    for (const int count : {2, 5}) {
      CAPTURE(count);
      const Trace shared = run_engine(graph, inputs, Capture::all, count);
      for (const NamedTensor& value : alone.tensors) {
        CAPTURE(value.name);
        const Tensor* other = shared.find(value.name);
        REQUIRE(other != nullptr);
        CHECK(std::ranges::equal(other->bytes(), value.tensor.bytes()));
      }
    }
  }
}

TEST_CASE("FastEngine_UnknownOption_ListsTheOptions") {
  const Graph graph =
      built(ModelBuilder().input("x", DType::float32, {1}).node("Relu", {"x"}, {"y"}).output("y"));
  const auto session =
      (**find_engine("fast"))
          .prepare(std::make_shared<const Graph>(graph), {.threads = 1, .values = {{"simd", "128"}}});
  REQUIRE(!session.ok());
  CHECK(session.error().kind == ErrorKind::bad_input);
  CHECK(session.error().message.find("simd") != std::string::npos);
  CHECK(session.error().message.find("threads") != std::string::npos);
}

}  // namespace driftscope::test::fast_engine_test
