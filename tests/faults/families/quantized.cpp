// Quantized arithmetic: zero points, scales, rounding, saturation, accumulators.
#include <limits>

#include "tests/faults/network.hpp"

namespace driftscope::faults::quantized {
namespace {

template <class T>
MakeNetwork quantize(T zero_point, float scale = 0.05f) {
  return [=](Rng& rng) {
    return network_of({.op = "QuantizeLinear",
                       .inputs = {normal(rng, {4, 50}, 3.0f)},
                       .constants = {tensor<float>({}, {scale}), tensor<T>({}, {zero_point})}});
  };
}

template <class T>
MakeNetwork dequantize(T zero_point) {
  return [=](Rng& rng) {
    return network_of(
        {.op = "DequantizeLinear",
         .inputs = {integers<T>(rng, {3, 60}, std::numeric_limits<T>::min(), std::numeric_limits<T>::max())},
         .constants = {uniform(rng, {3}, 0.01f, 0.1f), tensor<T>({3}, {zero_point, zero_point, zero_point})},
         .attributes = {integer("axis", 0)}});
  };
}

MakeNetwork matmul_integer(bool zero_points = true) {
  return [=](Rng& rng) {
    Chain chain{.op = "MatMulInteger",
                .inputs = {integers<std::uint8_t>(rng, {5, 300}, 0, 255)},
                .constants = {integers<std::int8_t>(rng, {300, 7}, -128, 127)}};
    if (zero_points) {
      chain.constants.push_back(tensor<std::uint8_t>({}, {113}));
      chain.constants.push_back(tensor<std::int8_t>({}, {-4}));
    }
    return network_of(chain);
  };
}

MakeNetwork conv_integer() {
  return [](Rng& rng) {
    return network_of({.op = "ConvInteger",
                       .inputs = {integers<std::uint8_t>(rng, {1, 6, 8, 8}, 0, 255)},
                       .constants = {integers<std::uint8_t>(rng, {4, 6, 3, 3}, 0, 255),
                                     tensor<std::uint8_t>({}, {100}), tensor<std::uint8_t>({}, {128})},
                       .attributes = {ints("pads", {1, 1, 1, 1})}});
  };
}

MakeNetwork qlinear_matmul() {
  return [](Rng& rng) {
    return network_of({.op = "QLinearMatMul",
                       .inputs = {integers<std::uint8_t>(rng, {6, 40}, 0, 255)},
                       .constants = {tensor<float>({}, {0.02f}), tensor<std::uint8_t>({}, {120}),
                                     integers<std::uint8_t>(rng, {40, 9}, 0, 255), tensor<float>({}, {0.03f}),
                                     tensor<std::uint8_t>({}, {130}), tensor<float>({}, {0.2f}),
                                     tensor<std::uint8_t>({}, {128})}});
  };
}

}  // namespace

void add_to(FaultTable& table) {
  const std::string family = "quantized";
  const auto add = [&](const std::string& name, MakeNetwork network, Fault fault) {
    table.add(family, name, std::move(network), std::move(fault));
  };
  const auto zero = each_number([](double, std::int64_t) { return 0.0; });
  const auto floors = [](const NodeRun& run) -> Result<Tensors> {
    DRIFTSCOPE_TRY(Tensors outputs, run_strict(run));
    const auto x = run.inputs[0].values<float>();
    const double scale = static_cast<double>(run.inputs[1].values<float>()[0]);
    const double shift =
        run.inputs[2].dtype() == DType::uint8 ? run.inputs[2].values<std::uint8_t>()[0] : 0.0;
    const double low = run.inputs[2].dtype() == DType::uint8 ? 0.0 : -128.0;
    outputs[0] = each_number([&](double, std::int64_t i) {
      const double y = std::floor(static_cast<double>(x[static_cast<std::size_t>(i)]) / scale) + shift;
      return std::fmin(std::fmax(y, low), low + 255.0);
    })(outputs[0]);
    return outputs;
  };
  add("QuantizeLinear, uint8: zero point ignored", quantize<std::uint8_t>(128), input(2, zero));
  add("QuantizeLinear, uint8: floor for round", quantize<std::uint8_t>(128), floors);
  add("QuantizeLinear, int8: floor for round", quantize<std::int8_t>(0), floors);
  add("QuantizeLinear, uint8: wraps around", quantize<std::uint8_t>(128, 0.01f),
      [](const NodeRun& run) -> Result<Tensors> {
        DRIFTSCOPE_TRY(Tensors outputs, run_strict(run));
        const auto x = run.inputs[0].values<float>();
        outputs[0] = each_number([&](double, std::int64_t i) {
          const double y = std::nearbyint(static_cast<double>(x[static_cast<std::size_t>(i)]) / 0.01) + 128.0;
          return y - 256.0 * std::floor(y / 256.0);
        })(outputs[0]);
        return outputs;
      });
  add("QuantizeLinear, uint8: saturates at 127", quantize<std::uint8_t>(128, 0.02f),
      output(each_number([](double x, std::int64_t) { return std::fmin(x, 127.0); })));
  add("QuantizeLinear, int8: scale of another layer", quantize<std::int8_t>(3), input(1, scaled(1.02)));
  add("QuantizeLinear, int8: one step too high", quantize<std::int8_t>(3),
      output(each_number([](double x, std::int64_t i) { return i % 17 == 0 && x < 127.0 ? x + 1.0 : x; })));
  add("DequantizeLinear, uint8: zero point ignored", dequantize<std::uint8_t>(121), input(2, zero));
  add("DequantizeLinear, int8: scale of the channel beside", dequantize<std::int8_t>(3), input(1, rolled(0)));
  add("DequantizeLinear, int8: taken as unsigned", dequantize<std::int8_t>(3),
      output(each([](double x, std::int64_t i) { return i % 5 == 0 ? std::fabs(x) : x; })));
  add("DequantizeLinear, uint8: zero point after the scale", dequantize<std::uint8_t>(121),
      [](const NodeRun& run) -> Result<Tensors> {
        DRIFTSCOPE_TRY(Tensors outputs, run_strict(run));
        const auto scales = run.inputs[1].values<float>();
        outputs[0] = each([&](double y, std::int64_t i) {
          const auto scale = static_cast<double>(scales[static_cast<std::size_t>(i / 60)]);
          return y + 121.0 * scale - 121.0;
        })(outputs[0]);
        return outputs;
      });
  add("MatMulInteger: zero point of A ignored", matmul_integer(), input(2, zero));
  add("MatMulInteger: zero point of B ignored", matmul_integer(), input(3, zero));
  add("MatMulInteger: pairs saturated in int16", matmul_integer(false),
      [](const NodeRun& run) -> Result<Tensors> {
        DRIFTSCOPE_TRY(Tensors outputs, run_strict(run));
        const auto a = run.inputs[0].values<std::uint8_t>();
        const auto b = run.inputs[1].values<std::int8_t>();
        outputs[0] = each_number([&](double, std::int64_t i) {
          const std::int64_t row = i / 7, column = i % 7;
          double sum = 0.0;
          for (std::int64_t k = 0; k < 300; k += 2) {
            double pair = 0.0;
            for (std::int64_t j = k; j < k + 2; ++j)
              pair += static_cast<double>(a[static_cast<std::size_t>(row * 300 + j)]) *
                      static_cast<double>(b[static_cast<std::size_t>(j * 7 + column)]);
            sum += std::fmin(std::fmax(pair, -32768.0), 32767.0);
          }
          return sum;
        })(outputs[0]);
        return outputs;
      });
  add("MatMulInteger: last term not added", matmul_integer(false), input(0, zero_from(1, 1)));
  add("MatMulInteger: sums through float16", matmul_integer(), output(each_number([](double x, std::int64_t) {
        return widen(float16_format, narrow(float16_format, x));
      })));
  add("ConvInteger: zero point of x ignored at the border", conv_integer(),
      output(each_number([](double x, std::int64_t i) { return i % 8 == 0 ? x + 1000.0 : x; })));
  add("ConvInteger: zero point of w ignored", conv_integer(), input(3, zero));
  add("ConvInteger: last input channel not added", conv_integer(), input(0, [](const Tensor& x) {
        return each_number([](double value, std::int64_t i) { return i >= 5 * 64 ? 100.0 : value; })(x);
      }));
  add("QLinearMatMul: zero point of y ignored", qlinear_matmul(), input(7, zero));
  add("QLinearMatMul: scales exchanged with another layer's", qlinear_matmul(), input(4, scaled(1.1)));
  add("QLinearMatMul: truncated for rounded", qlinear_matmul(),
      output(each_number([](double x, std::int64_t i) { return i % 2 == 0 && x > 0.0 ? x - 1.0 : x; })));
  add(
      "DynamicQuantizeLinear: range without zero",
      [](Rng& rng) {
        return network_of({.op = "DynamicQuantizeLinear",
                           .inputs = {uniform(rng, {200}, 2.0f, 3.0f)},
                           .constants = {},
                           .attributes = {},
                           .outputs = 3});
      },
      [](const NodeRun& run) -> Result<Tensors> {
        DRIFTSCOPE_TRY(Tensors outputs, run_strict(run));
        const auto x = run.inputs[0].values<float>();
        outputs[0] = each_number([&](double, std::int64_t i) {
          return std::nearbyint((static_cast<double>(x[static_cast<std::size_t>(i)]) - 2.0) * 255.0);
        })(outputs[0]);
        return outputs;
      });
}

}  // namespace driftscope::faults::quantized
