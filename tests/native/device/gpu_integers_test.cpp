// Quantized operators on GPU engines with random sizes and zero points, judged layer by layer. Devices hold
// integers as float32: sums that may need more than 24 bits go to strict.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include "core/ops/shared/domains.hpp"
#include "tests/native/device/gpu_support.hpp"
#include "tests/unit/support/random_tensor.hpp"
#include "tests/unit/support/seed.hpp"

namespace driftscope::test::gpu_integers_test {
namespace {

const std::string microsoft = std::string(microsoft_domain);

// A model of integers that grows node by node; names of values are v0, v1, …
class Quantized {
 public:
  explicit Quantized(Rng& rng) : rng_(rng) {}
  ModelBuilder model;

  std::int64_t one_of(std::initializer_list<std::int64_t> of) { return of.begin()[rng_.below(of.size())]; }
  bool maybe() { return rng_.below(2) == 0; }

  std::string constant(const Tensor& value) {
    const std::string made = name();
    model.initializer(made, value);
    return made;
  }
  std::string scale(std::int64_t count = 1) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = 0.004f * static_cast<float>(1 + rng_.below(9));
    return constant(tensor<float>(count == 1 ? Shape{} : Shape{count}, values));
  }
  std::string zero() {
    return constant(
        tensor<std::uint8_t>({}, {static_cast<std::uint8_t>(rng_.below(3) == 0 ? 0 : rng_.below(256))}));
  }
  std::string small_zeros(std::int64_t count = 1) {
    return constant(tensor<std::int8_t>(count == 1 ? Shape{} : Shape{count}, small(count, 9)));
  }
  std::string weights(const Shape& shape) {
    return constant(tensor<std::int8_t>(shape, small(element_count(shape), 127)));
  }
  std::string biases(std::int64_t count) {
    std::vector<std::int32_t> values(static_cast<std::size_t>(count));
    for (std::int32_t& value : values) value = static_cast<std::int32_t>(rng_.below(4001)) - 2000;
    return constant(tensor<std::int32_t>({count}, values));
  }
  std::string node(const std::string& op, const std::vector<std::string>& inputs,
                   const std::vector<Attribute>& attributes = {}, const std::string& domain = "") {
    const std::string made = name();
    model.node(op, inputs, {made}, attributes, domain);
    return made;
  }
  std::string name() { return fmt::format("v{}", names_++); }

 private:
  std::vector<std::int8_t> small(std::int64_t count, std::int64_t most) {
    std::vector<std::int8_t> values(static_cast<std::size_t>(count));
    for (std::int8_t& value : values)
      value = static_cast<std::int8_t>(
          static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(2 * most + 1))) - most);
    return values;
  }

  Rng& rng_;
  int names_ = 0;
};

TEST_CASE("Gpu_QuantizedConvolutions_OfRandomShapes_AreRight") {
  const std::uint64_t seed = test_seed(51);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < repetitions(16); ++round) {
    Quantized it(rng);
    const std::int64_t channels = it.one_of({1, 3, 4, 8});
    const std::int64_t group = it.maybe() ? 1 : channels;
    const std::int64_t outputs = group * it.one_of({1, 2, 4});
    const std::int64_t kernel = it.one_of({1, 2, 3});
    const Shape shape = {it.one_of({1, 2}), channels, 5, it.one_of({4, 7})};
    CAPTURE(fmt::format("{} channels in {} groups to {}, kernel {}", channels, group, outputs, kernel));
    it.model.input("x", DType::float32, {shape[0], channels, 5, shape[3]});
    const std::vector<Attribute> window = {integer("group", group),
                                           ints("pads", std::vector<std::int64_t>(4, kernel / 2)),
                                           ints("strides", std::vector<std::int64_t>(2, it.one_of({1, 2})))};
    const std::string x_scale = it.scale();
    const std::string x_zero = it.zero();
    const std::string q = it.node("QuantizeLinear", {"x", x_scale, x_zero});
    const bool each = it.maybe() && outputs > 1;
    std::vector<std::string> inputs = {q,
                                       x_scale,
                                       x_zero,
                                       it.weights({outputs, channels / group, kernel, kernel}),
                                       it.scale(each ? outputs : 1),
                                       it.small_zeros(each ? outputs : 1),
                                       it.scale(),
                                       it.zero()};
    if (it.maybe()) inputs.push_back(it.biases(outputs));
    const std::string y = it.node("QLinearConv", inputs, window);
    const std::string pooled = it.node("MaxPool", {y}, {ints("kernel_shape", {2, 2})});
    const std::string flat = it.node("Flatten", {it.maybe() ? pooled : y});
    it.model.output(it.node("DequantizeLinear", {flat, inputs[6], inputs[7]}));
    // The dynamic form of the same.
    it.model.node("DynamicQuantizeLinear", {"x"}, {"dq", "ds", "dz"});
    const std::string sums = it.node("ConvInteger", {"dq", inputs[3], "dz", inputs[5]}, window);
    const std::string numbers = it.node("Cast", {sums}, {integer("to", 1)});
    it.model.output(it.node("Mul", {numbers, "ds"}));
    check_on_gpu(it.model, {{"x", random_tensor(rng, shape)}});
  }
}

TEST_CASE("Gpu_QuantizedProducts_OfRandomSizes_AreRight") {
  const std::uint64_t seed = test_seed(52);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < repetitions(16); ++round) {
    Quantized it(rng);
    const std::int64_t rows = it.one_of({1, 2, 5, 33});
    const std::int64_t depth = it.one_of({1, 3, 8, 66, 260});
    const std::int64_t columns = it.one_of({1, 3, 4, 8, 33});
    const bool each = it.maybe() && columns > 1;
    CAPTURE(fmt::format("{} x {} x {}", rows, depth, columns));
    it.model.opset(21).opset(microsoft, 1).input("x", DType::float32, {rows, depth});
    const std::string b = it.weights({depth, columns});
    const std::string b_scale = it.scale(each ? columns : 1);
    const std::string b_zero = it.small_zeros(each ? columns : 1);
    const std::string a_scale = it.scale();
    const std::string a_zero = it.zero();
    const std::string y_scale = it.scale();
    const std::string y_zero = it.zero();
    const std::string q = it.node("QuantizeLinear", {"x", a_scale, a_zero});
    it.model.output(it.node("QLinearMatMul", {q, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero}));
    const std::string c = it.maybe() ? it.biases(columns) : "";
    std::vector<std::string> gemm = {q, a_scale, a_zero, b, b_scale, b_zero, c};
    if (it.maybe()) gemm.insert(gemm.end(), {y_scale, y_zero});
    it.model.output(it.node("QGemm", gemm, {}, microsoft));
    const std::string bias = it.maybe() ? it.constant(random_tensor(rng, {columns})) : "";
    it.model.node("DynamicQuantizeLinear", {"x"}, {"dq", "ds", "dz"});
    it.model.output(
        it.node("MatMulIntegerToFloat", {"dq", b, "ds", b_scale, "dz", b_zero, bias}, {}, microsoft));
    it.model.output(it.node("DynamicQuantizeMatMul", {"x", b, b_scale, b_zero, bias}, {}, microsoft));
    const std::string sums = it.node("MatMulInteger", {"dq", b, "dz", b_zero});
    it.model.output(sums);
    it.model.output(it.node("Cast", {sums}, {integer("to", 1)}));
    check_on_gpu(it.model, {{"x", random_tensor(rng, {rows, depth})}});
  }
}

TEST_CASE("Gpu_FunctionsOfSteps_OfRandomShapes_AreRight") {
  const std::uint64_t seed = test_seed(53);
  SEED_INFO(seed);
  Rng rng(seed);
  for (int round = 0; round < repetitions(12); ++round) {
    Quantized it(rng);
    const Shape shape = {it.one_of({1, 2}), it.one_of({1, 3, 4, 8}), it.one_of({1, 5}), it.one_of({4, 7})};
    CAPTURE(shape_text(shape));
    const std::vector<Dim> dims(shape.begin(), shape.end());
    it.model.opset(21).opset(microsoft, 1).input("x", DType::float32, dims).input("z", DType::float32, dims);
    const std::string scale = it.scale();
    const std::string zero = it.zero();
    const std::string a = it.node("QuantizeLinear", {"x", scale, zero});
    const std::string b = it.node("QuantizeLinear", {"z", scale, zero});
    for (const char* op : {"QLinearAdd", "QLinearMul"})
      it.model.output(it.node(op, {a, scale, zero, b, scale, zero, it.scale(), it.zero()}, {}, microsoft));
    for (const char* op : {"QLinearSigmoid", "QLinearLeakyRelu", "QLinearGlobalAveragePool"})
      it.model.output(it.node(op, {a, scale, zero, it.scale(), it.zero()}, {}, microsoft));
    // Along an axis, and moved as integers.
    const std::string scales = it.scale(shape[1]);
    const std::string steps = it.node("QuantizeLinear", {"x", scales}, {integer("axis", 1)});
    const std::string turned = it.node("Transpose", {steps}, {ints("perm", {0, 2, 3, 1})});
    it.model.output(it.node("DequantizeLinear", {turned, scales}, {integer("axis", 3)}));
    it.model.output(it.node("Concat", {a, b}, {integer("axis", 1)}));
    check_on_gpu(it.model, {{"x", random_tensor(rng, shape)}, {"z", random_tensor(rng, shape)}});
  }
}

TEST_CASE("Gpu_SumsThatFloat32CannotHold_GoToStrict") {
  for (const bool fits : {true, false}) {
    CAPTURE(fits);
    constexpr std::int64_t depth = 519;
    std::vector<std::int8_t> weights(depth, 127);
    weights.back() = fits ? 7 : 8;  // 255·(518·127 + 7) = 2^24 − 1
    ModelBuilder model;
    model.input("a", DType::uint8, {1, depth})
        .initializer("b", tensor<std::int8_t>({depth, 1}, weights))
        .node("MatMulInteger", {"a", "b"}, {"y"})
        .output("y");
    const NamedInputs inputs = {
        {"a", tensor<std::uint8_t>({1, depth}, std::vector<std::uint8_t>(depth, 255))}};
    const Graph graph = built(model);
    for (const GpuWay& way : gpu_ways()) {
      const GpuRun ran = run_on_gpu(graph, inputs, way);
      CHECK(ran.with.options.contains("on_strict") == !fits);
      const Tensor* const y = ran.trace.find("y");
      REQUIRE(y != nullptr);
      CHECK(y->values<std::int32_t>()[0] == (fits ? 16'777'215 : 16'777'470));
    }
  }
}

}  // namespace
}  // namespace driftscope::test::gpu_integers_test
