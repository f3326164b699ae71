// Small networks with seeded weights, and inputs of several kinds, for tests of verify.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "core/base/rng.hpp"
#include "core/graph/graph.hpp"
#include "tests/unit/support/model_builder.hpp"

namespace driftscope::test {

enum class Kind {
  normal,    ///< standard normal
  positive,  ///< in [1, 2), as after many layers with Relu
  flat,      ///< one number everywhere
  smooth,    ///< a gradient
  image,     ///< 8-bit pixels, scaled and normalised, mostly background
  sparse,    ///< mostly zeros, as after Relu
  huge,      ///< normal · 10³⁰
  tiny,      ///< normal · 10⁻³⁸: subnormals among them
};
inline const std::vector<Kind> all_kinds = {Kind::normal, Kind::positive, Kind::flat, Kind::smooth,
                                            Kind::image,  Kind::sparse,   Kind::huge, Kind::tiny};

inline float draw(Kind kind, std::size_t i, std::size_t count, Rng& rng) {
  switch (kind) {
    case Kind::positive: return rng.uniform(1.0f, 2.0f);
    case Kind::flat: return 0.7134f;
    case Kind::smooth: return -0.8f + 1.7f * static_cast<float>(i) / static_cast<float>(count);
    case Kind::image: {
      const float pixel = rng.below(4) == 0 ? static_cast<float>(rng.below(256)) : static_cast<float>(13);
      return (pixel / 255.0f - 0.1307f) / 0.3081f;
    }
    case Kind::sparse: return rng.below(5) == 0 ? std::fabs(rng.normal()) : 0.0f;
    case Kind::huge: return rng.normal() * 1e30f;
    case Kind::tiny: return rng.normal() * 1e-38f;
    default: return rng.normal();
  }
}

inline Tensor drawn(Shape shape, Kind kind, Rng& rng, float scale = 1.0f) {
  const auto count = static_cast<std::size_t>(element_count(shape));
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = draw(kind, i, count, rng) * scale;
  return tensor<float>(std::move(shape), values);
}

/// Every operator with sums, and those that only move data, at 40 channels:
/// Conv (SAME_UPPER, stride 2) → Relu → MaxPool → Conv (grouped) → BatchNormalization → Add (with the
/// MaxPool) → Clip → AveragePool → Conv (dilated) → Sigmoid → Concat (with AveragePool) →
/// GlobalAveragePool → Flatten → Gemm → Tanh → MatMul → Softmax.
inline Graph convolutional_net(Rng& rng, const Shape& input) {
  const auto weights = [&](Shape shape) {
    std::int64_t fan_in = 1;
    for (std::size_t i = 1; i < shape.size(); ++i) fan_in *= shape[i];
    return drawn(std::move(shape), Kind::normal, rng, std::sqrt(2.0f / static_cast<float>(fan_in)));
  };
  std::vector<float> variance(40);
  for (float& x : variance) x = rng.uniform(0.2f, 3.0f);
  ModelBuilder model("convolutional");
  model.opset(17)
      .input("x", DType::float32, {input[0], input[1], input[2], input[3]})
      .initializer("w1", weights({40, input[1], 3, 3}))
      .initializer("b1", drawn({40}, Kind::normal, rng, 0.3f))
      .node("Conv", {"x", "w1", "b1"}, {"c1"}, {text("auto_pad", "SAME_UPPER"), ints("strides", {2, 2})})
      .named("conv1")
      .node("Relu", {"c1"}, {"r1"})
      .named("relu1")
      .node("MaxPool", {"c1"}, {"m1"}, {ints("kernel_shape", {3, 3}), ints("pads", {1, 1, 1, 1})})
      .named("maxpool")
      .initializer("w2", weights({40, 10, 3, 3}))
      .initializer("b2", drawn({40}, Kind::normal, rng, 0.3f))
      .node("Conv", {"r1", "w2", "b2"}, {"c2"}, {ints("pads", {1, 1, 1, 1}), integer("group", 4)})
      .named("conv2")
      .initializer("scale", drawn({40}, Kind::positive, rng))
      .initializer("shift", drawn({40}, Kind::normal, rng))
      .initializer("mean", drawn({40}, Kind::normal, rng))
      .initializer("variance", tensor<float>({40}, variance))
      .node("BatchNormalization", {"c2", "scale", "shift", "mean", "variance"}, {"n2"},
            {real("epsilon", 0.05f)})
      .named("norm")
      .node("Add", {"n2", "m1"}, {"s"})
      .named("add")
      .initializer("low", tensor<float>({}, {-1.0f}))
      .initializer("high", tensor<float>({}, {2.5f}))
      .node("Clip", {"s", "low", "high"}, {"l"})
      .named("clip")
      .node("AveragePool", {"l"}, {"a"},
            {ints("kernel_shape", {3, 3}), ints("strides", {2, 2}), ints("pads", {1, 1, 1, 1})})
      .named("average")
      .initializer("w3", weights({40, 40, 3, 3}))
      .node("Conv", {"a", "w3"}, {"c3"}, {ints("dilations", {2, 2}), ints("pads", {2, 2, 2, 2})})
      .named("conv3")
      .node("Sigmoid", {"c3"}, {"g"})
      .named("sigmoid")
      .node("Concat", {"g", "a"}, {"t"}, {integer("axis", 1)})
      .named("concat")
      .node("GlobalAveragePool", {"t"}, {"p"})
      .named("pool")
      .node("Flatten", {"p"}, {"f"})
      .named("flatten")
      .initializer("w4", weights({32, 80}))
      .initializer("b4", drawn({32}, Kind::normal, rng))
      .node("Gemm", {"f", "w4", "b4"}, {"d"}, {integer("transB", 1)})
      .named("gemm")
      .node("Tanh", {"d"}, {"h"})
      .named("tanh")
      .initializer("w5", drawn({32, 10}, Kind::normal, rng, 0.4f))
      .node("MatMul", {"h", "w5"}, {"u"})
      .named("matmul")
      .node("Softmax", {"u"}, {"y"})
      .named("softmax")
      .output("y");
  return built(model);
}

}  // namespace driftscope::test
