// Element by element functions: approximations, ranges, special values, tails.
#include <fmt/format.h>

#include <limits>

#include "tests/faults/network.hpp"

namespace driftscope::faults::activations {
namespace {

MakeNetwork unary(const std::string& op, float low, float high, DType dtype = DType::float32,
                  std::vector<Attribute> attributes = {}) {
  return [=](Rng& rng) {
    return network_of({.op = op,
                       .inputs = {uniform(rng, {3, 7, 31}, low, high)},
                       .constants = {},
                       .attributes = attributes,
                       .dtype = dtype});
  };
}

/// The values of a function of what the node reads.
Fault value_of(std::function<double(double)> function) {
  return [function = std::move(function)](const NodeRun& run) -> Result<Tensors> {
    Tensors outputs;
    outputs.push_back(each([&](double x, std::int64_t) { return function(x); })(run.inputs[0]));
    return outputs;
  };
}

}  // namespace

void add_to(FaultTable& table) {
  const std::string family = "activations";
  const auto add = [&](const std::string& name, MakeNetwork network, Fault fault) {
    table.add(family, name, std::move(network), std::move(fault));
  };
  for (const DType dtype : {DType::float32, DType::float16}) {
    const std::string of = dtype == DType::float32 ? ": " : ", float16: ";
    add("Relu" + of + "negative values kept", unary("Relu", -1, 1, dtype),
        value_of([](double x) { return x; }));
    add("Relu" + of + "clipped at 0.6", unary("Relu", -1, 1, dtype),
        value_of([](double x) { return std::fmin(std::fmax(x, 0.0), 0.6); }));
    add("LeakyRelu" + of + "slope of another layer", unary("LeakyRelu", -2, 2, dtype, {real("alpha", 0.1f)}),
        attribute(real("alpha", 0.01f)));
    add("Elu" + of + "alpha ignored", unary("Elu", -2, 2, dtype, {real("alpha", 0.5f)}),
        no_attribute("alpha"));
    add("HardSigmoid" + of + "slope 1/6 for 0.2", unary("HardSigmoid", -4, 4, dtype),
        attribute(real("alpha", 1.0f / 6.0f)));
    add("Sigmoid" + of + "hard sigmoid instead", unary("Sigmoid", -4, 4, dtype), as_op("HardSigmoid"));
    add("Tanh" + of + "rational approximation of low order", unary("Tanh", -2, 2, dtype),
        value_of([](double x) { return x * (27.0 + x * x) / (27.0 + 9.0 * x * x); }));
    add("Gelu" + of + "by tanh where erf is asked", unary("Gelu", -4, 4, dtype),
        attribute(text("approximate", "tanh")));
    add("Gelu" + of + "x · sigmoid(1.702 x)", unary("Gelu", -4, 4, dtype),
        value_of([](double x) { return x / (1.0 + std::exp(-1.702 * x)); }));
    add("Softplus" + of + "linear above 2", unary("Softplus", -4, 4, dtype),
        value_of([](double x) { return x > 2.0 ? x : std::log1p(std::exp(x)); }));
    add("HardSwish" + of + "last elements not written", unary("HardSwish", -4, 4, dtype),
        output(zero_from(2, 3)));
    add(
        "Clip" + of + "Relu6 at 6 taken as 5",
        [dtype](Rng& rng) {
          return network_of({.op = "Clip",
                             .inputs = {uniform(rng, {4, 60}, -3.0f, 9.0f)},
                             .constants = {tensor<float>({}, {0.0f}), tensor<float>({}, {6.0f})},
                             .dtype = dtype});
        },
        output(each([](double x, std::int64_t) { return std::fmin(x, 5.0); })));
    add(
        "PRelu" + of + "slope of the channel beside",
        [dtype](Rng& rng) {
          return network_of({.op = "PRelu",
                             .inputs = {normal(rng, {2, 6, 4, 4})},
                             .constants = {uniform(rng, {6, 1, 1}, 0.05f, 0.5f)},
                             .dtype = dtype});
        },
        input(1, rolled(0)));
  }
  add("Exp: 12 bits of the result", unary("Exp", -5, 5), output(rounded_to(12)));
  add("Exp: Schraudolph's approximation", unary("Exp", -5, 5), value_of([](double x) {
        const double y = x * 1.4426950408889634;
        const double whole = std::floor(y);
        return std::ldexp(1.0 + (y - whole), static_cast<int>(whole));
      }));
  add("Exp: overflow to the largest number", unary("Exp", 80, 95), value_of([](double x) {
        return std::fmin(std::exp(x), static_cast<double>(std::numeric_limits<float>::max()));
      }));
  add("Log: of 1 − x for small x by x", unary("Log", 0.9f, 1.1f), value_of([](double x) { return x - 1.0; }));
  add("Sqrt: by an estimate of 12 bits", unary("Sqrt", 0.1f, 10.0f), output(rounded_to(12)));
  add("Sqrt: 0 for subnormals", unary("Sqrt", 1e-42f, 1e-39f), value_of([](double) { return 0.0; }));
  add("Reciprocal: an estimate of 12 bits", unary("Reciprocal", 0.1f, 10.0f), output(rounded_to(12)));
  add("Erf: of five terms", unary("Erf", -2, 2), value_of([](double x) {
        const double t = std::fabs(x);
        const double d = 1.0 + t * (0.278393 + t * (0.230389 + t * (0.000972 + t * 0.078108)));
        return std::copysign(1.0 - 1.0 / (d * d * d * d), x);
      }));
  add("Tanh: saturates at 3", unary("Tanh", -6, 6),
      value_of([](double x) { return std::fabs(x) > 3.0 ? std::copysign(1.0, x) : std::tanh(x); }));
  add("Tanh: x for small x", unary("Tanh", -0.1f, 0.1f), value_of([](double x) { return x; }));
  add("Sigmoid: result rounded to bfloat16", unary("Sigmoid", -4, 4), output(rounded_to(7)));
  add("Sigmoid: 1 from 8 on", unary("Sigmoid", 6, 12),
      value_of([](double x) { return x > 8.0 ? 1.0 : 1.0 / (1.0 + std::exp(-x)); }));
  add("Sin: no reduction of the argument beyond π", unary("Sin", -20, 20), value_of([](double x) {
        const double y = std::fmod(x, 3.14159265358979);
        return y - y * y * y / 6.0 + std::pow(y, 5) / 120.0 - std::pow(y, 7) / 5040.0;
      }));
  add("Abs: of the element beside", unary("Abs", -1, 1), input(0, rolled(2)));
  add("Neg: sign of the last element kept", unary("Neg", 0.1f, 1), output(element(650, 0.7)));
  add("Floor: truncated", unary("Floor", -5, 5), value_of([](double x) { return std::trunc(x); }));
  add(
      "Round: halves away from zero",
      [](Rng& rng) {
        Tensor halves = uniform(rng, {200}, -8.0f, 8.0f);
        for (float& x : halves.mutable_values<float>()) x = std::floor(x) + 0.5f;
        return network_of({.op = "Round", .inputs = {halves}, .constants = {}});
      },
      value_of([](double x) { return std::round(x); }));
  add(
      "Sign: of zero is 1",
      [](Rng& rng) {
        Tensor x = normal(rng, {100});
        x.mutable_values<float>()[17] = 0.0f;
        return network_of({.op = "Sign", .inputs = {x}, .constants = {}});
      },
      value_of([](double x) { return x < 0.0 ? -1.0 : 1.0; }));
  add(
      "Relu: NaN becomes 0",
      [](Rng& rng) {
        Tensor x = normal(rng, {100});
        x.mutable_values<float>()[17] = std::numeric_limits<float>::quiet_NaN();
        return network_of({.op = "Relu", .inputs = {x}, .constants = {}});
      },
      value_of([](double x) { return x > 0.0 ? x : 0.0; }));
  add(
      "Exp: infinity becomes NaN",
      [](Rng& rng) {
        Tensor x = normal(rng, {100});
        x.mutable_values<float>()[3] = std::numeric_limits<float>::infinity();
        return network_of({.op = "Exp", .inputs = {x}, .constants = {}});
      },
      output(each([](double x, std::int64_t) { return std::isinf(x) || x == 0.0 ? NAN : x; })));
}

}  // namespace driftscope::faults::activations
