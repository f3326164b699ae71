// MatMul, Gemm: operands, tails, precision.
#include <fmt/format.h>

#include "tests/faults/network.hpp"

namespace driftscope::faults::products {
namespace {

MakeNetwork matmul(DType dtype, Shape a, Shape b, float mean = 0.0f) {
  return [=](Rng& rng) {
    return network_of({.op = "MatMul",
                       .inputs = {normal(rng, a, 1.0f, mean)},
                       .constants = {normal(rng, b, 0.3f, mean)},
                       .dtype = dtype});
  };
}

MakeNetwork gemm(DType dtype, std::vector<Attribute> attributes, Shape b = {24, 10}) {
  return [=](Rng& rng) {
    return network_of({.op = "Gemm",
                       .inputs = {normal(rng, {6, 24})},
                       .constants = {normal(rng, b, 0.3f), normal(rng, {10})},
                       .attributes = attributes,
                       .dtype = dtype});
  };
}

/// A · B + C with sums kept in a narrow type at each step: allowed for a runtime whose tensors have that
/// type. Without transposes, alpha and beta.
Fault summed_in(DType dtype) {
  return [dtype](const NodeRun& run) -> Result<Tensors> {
    DRIFTSCOPE_TRY(const Tensors right, run_strict(run));
    const auto narrowed = [dtype](double x) {
      const SmallFloat format = dtype == DType::float16 ? float16_format : bfloat16_format;
      return widen(format, narrow(format, x));
    };
    const Tensor a = as_dtype(run.inputs[0], DType::float64), b = as_dtype(run.inputs[1], DType::float64);
    const std::int64_t depth = a.shape().back(), columns = b.shape().back();
    Tensors result;
    result.push_back(each([&](double, std::int64_t i) {
      double sum = 0.0;
      for (std::int64_t k = 0; k < depth; ++k)
        sum = narrowed(sum + a.values<double>()[static_cast<std::size_t>(i / columns * depth + k)] *
                                 b.values<double>()[static_cast<std::size_t>(k * columns + i % columns)]);
      return sum;
    })(right[0]));
    return result;
  };
}

}  // namespace

void add_to(FaultTable& table) {
  const std::string family = "products";
  for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16}) {
    const std::string suffix = dtype == DType::float32   ? ": "
                               : dtype == DType::float16 ? ", float16: "
                                                         : ", bfloat16: ";
    const auto add = [&](const std::string& op, const std::string& name, MakeNetwork network, Fault fault) {
      std::vector<Fault> alternatives;
      if (dtype != DType::float32 && op == "MatMul") alternatives.push_back(summed_in(dtype));
      table.add(family, op + suffix + name, std::move(network), std::move(fault), std::move(alternatives));
    };
    const auto small = matmul(dtype, {3, 8, 40}, {40, 12});
    add("MatMul", "last term not added", small, input(0, zero_from(2, 1)));
    add("MatMul", "last four terms not added", small, input(0, zero_from(2, 4)));
    add("MatMul", "last column not written", small, output(zero_from(2, 1)));
    add("MatMul", "last row repeats the one before", small, output(last_repeated(1)));
    add("MatMul", "batches exchanged", small, output(ends_exchanged(0)));
    add("MatMul", "result scaled by 1.01", small, output(scaled(1.01)));
    const auto square = matmul(dtype, {16, 16}, {16, 16});
    add("MatMul", "operands exchanged", square, swapped(0, 1));
    add("MatMul", "second operand transposed", square, input(1, transposed_in_place()));
    add("Gemm", "C left out", gemm(dtype, {}), without_input(2));
    add("Gemm", "alpha ignored", gemm(dtype, {real("alpha", 0.5f)}), no_attribute("alpha"));
    add("Gemm", "beta ignored", gemm(dtype, {real("beta", 0.75f)}), no_attribute("beta"));
    add("Gemm", "beta applied to the product", gemm(dtype, {real("beta", 0.75f)}), [](const NodeRun& run) {
      NodeRun other = run;
      other.node.attributes = {real("alpha", 0.75f)};
      return run_strict(other);
    });
    add("Gemm", "transB taken as another layout", gemm(dtype, {integer("transB", 1)}, {10, 24}),
        input(1, [](const Tensor& b) {
          return *transposed_in_place()(*b.reshaped({24, 10})).reshaped({10, 24});
        }));
  }
  for (const std::int64_t depth : {64, 1024, 4096, 16384}) {
    for (const float mean : {0.0f, 0.5f}) {
      const std::string with =
          fmt::format("MatMul, {} terms{}: ", depth, mean > 0.0f ? ", positive mean" : "");
      const auto network = matmul(DType::float32, {8, depth}, {depth, 16}, mean);
      table.add(family, with + "inputs rounded to TF32", network, inputs(rounded_to(10)));
      table.add(family, with + "inputs rounded to bfloat16", network, inputs(rounded_to(7)));
      table.add(family, with + "inputs rounded to float16", network, inputs(through_float16()));
    }
  }
  table.add(family, "MatMul: sums kept in float16", matmul(DType::float32, {4, 256}, {256, 8}),
            summed_in(DType::float16));
  table.add(family, "MatMul: result rounded to float16", matmul(DType::float32, {8, 128}, {128, 16}),
            output(through_float16()));
  table.add(family, "MatMul: one split of the terms added twice", matmul(DType::float32, {8, 128}, {128, 16}),
            input(0, each([](double x, std::int64_t i) { return i % 128 >= 96 ? 2.0 * x : x; })));
}

}  // namespace driftscope::faults::products
