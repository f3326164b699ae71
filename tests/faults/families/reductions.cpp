// Softmax, reductions, ArgMax: axes, tails, ties, overflow.
#include <fmt/format.h>

#include <limits>

#include "tests/faults/network.hpp"

namespace driftscope::faults::reductions {
namespace {

MakeNetwork softmax(DType dtype, float spread = 2.0f, std::int64_t axis = -1,
                    const std::string& op = "Softmax") {
  return [=](Rng& rng) {
    return network_of({.op = op,
                       .inputs = {normal(rng, {4, 9, 9}, spread)},
                       .constants = {},
                       .attributes = {integer("axis", axis)},
                       .dtype = dtype});
  };
}

MakeNetwork reduce(const std::string& op, DType dtype, float mean = 1.0f, Shape shape = {5, 40}) {
  return [=](Rng& rng) {
    return network_of({.op = op,
                       .inputs = {normal(rng, shape, 0.5f, mean)},
                       .constants = {tensor<std::int64_t>({1}, {1})},
                       .dtype = dtype});
  };
}

}  // namespace

void add_to(FaultTable& table) {
  const std::string family = "reductions";
  for (const DType dtype : {DType::float32, DType::float16}) {
    const std::string of = dtype == DType::float32 ? ": " : ", float16: ";
    const auto add = [&](const std::string& name, MakeNetwork network, Fault fault) {
      table.add(family, name, std::move(network), std::move(fault));
    };
    add("Softmax" + of + "along another axis of equal size", softmax(dtype), attribute(integer("axis", 1)));
    add("Softmax" + of + "last element not in the sum", softmax(dtype),
        [](const NodeRun& run) -> Result<Tensors> {
          DRIFTSCOPE_TRY(const Tensors right, run_strict(run));
          const Tensor y = as_dtype(right[0], DType::float64);
          Tensors wrong;
          wrong.push_back(each([&](double value, std::int64_t i) {
            return value / (1.0 - y.values<double>()[static_cast<std::size_t>(i / 9 * 9 + 8)]);
          })(right[0]));
          return wrong;
        });
    add("Softmax" + of + "not normalized in the last row", softmax(dtype),
        output(each([](double y, std::int64_t i) { return i / 9 % 9 == 8 ? 1.1 * y : y; })));
    add("Softmax" + of + "logarithm instead", softmax(dtype), as_op("LogSoftmax", {integer("axis", -1)}));
    add("LogSoftmax" + of + "logarithm of a flushed probability", softmax(dtype, 12.0f, -1, "LogSoftmax"),
        output(each([](double y, std::int64_t) { return std::fmax(y, -10.0); })));
    add("ReduceSum" + of + "last term not added", reduce("ReduceSum", dtype), input(0, zero_from(1, 1)));
    add("ReduceMean" + of + "divided by n − 1", reduce("ReduceMean", dtype), output(scaled(40.0 / 39.0)));
    add("ReduceMean" + of + "last terms of a vector not added", reduce("ReduceMean", dtype),
        input(0, zero_from(1, 4)));
    add("ReduceMax" + of + "starts at 0", reduce("ReduceMax", dtype, -4.0f),
        output(each([](double x, std::int64_t) { return std::fmax(x, 0.0); })));
    add("ReduceMin" + of + "maximum instead", reduce("ReduceMin", dtype), as_op("ReduceMax"));
    add("ReduceProd" + of + "last factor left out", reduce("ReduceProd", dtype, 1.0f, {5, 6}),
        input(0, each([](double x, std::int64_t i) { return i % 6 == 5 ? 1.0 : x; })));
    add("ReduceL2" + of + "root left out", reduce("ReduceL2", dtype),
        output(each([](double x, std::int64_t) { return x * x; })));
    add("ReduceLogSumExp" + of + "last term not added", reduce("ReduceLogSumExp", dtype, 0.0f, {5, 12}),
        input(0, each([](double x, std::int64_t i) { return i % 12 == 11 ? -60.0 : x; })));
    add("CumSum" + of + "exclusive", reduce("CumSum", dtype), attribute(integer("exclusive", 1)));
    add("CumSum" + of + "starts again at 32", reduce("CumSum", dtype),
        [](const NodeRun& run) -> Result<Tensors> {
          DRIFTSCOPE_TRY(const Tensors right, run_strict(run));
          const Tensor sums = as_dtype(right[0], DType::float64);
          Tensors wrong;
          wrong.push_back(each([&](double y, std::int64_t i) {
            return i % 40 < 32 ? y : y - sums.values<double>()[static_cast<std::size_t>(i / 40 * 40 + 31)];
          })(right[0]));
          return wrong;
        });
  }
  table.add(family, "Softmax: exp without the maximum subtracted", softmax(DType::float32, 60.0f),
            output(each([](double, std::int64_t i) { return i % 9 == 0 ? NAN : 0.0; })));
  table.add(family, "Softmax: result rounded to float16", softmax(DType::float32), output(through_float16()));
  table.add(
      family, "Softmax: masked elements keep a little",
      [](Rng& rng) {
        Tensor x = normal(rng, {8, 16});
        for (std::int64_t i = 0; i < x.elements(); i += 3)
          x.mutable_values<float>()[static_cast<std::size_t>(i)] = -std::numeric_limits<float>::infinity();
        return network_of(
            {.op = "Softmax", .inputs = {x}, .constants = {}, .attributes = {integer("axis", -1)}});
      },
      output(each([](double y, std::int64_t) { return y == 0.0 ? 1e-4 : y; })));
  const auto arg = [](const std::string& op) {
    return [op](Rng& rng) {
      Tensor x = normal(rng, {6, 20});
      const auto values = x.mutable_values<float>();
      for (std::size_t row = 0; row < 6; ++row)
        values[row * 20 + 3] = values[row * 20 + 15] = op == "ArgMax" ? 9.0f : -9.0f;
      return network_of({.op = op, .inputs = {x}, .constants = {}, .attributes = {integer("axis", 1)}});
    };
  };
  for (const char* op : {"ArgMax", "ArgMin"}) {
    table.add(family, std::string(op) + ": the last of equal ones", arg(op),
              attribute(integer("select_last_index", 1)));
    table.add(family, std::string(op) + ": one further", arg(op),
              output(each_number([](double x, std::int64_t) { return x + 1.0; })));
  }
  table.add(
      family, "TopK: smallest instead",
      [](Rng& rng) {
        return network_of({.op = "TopK",
                           .inputs = {normal(rng, {4, 20})},
                           .constants = {tensor<std::int64_t>({1}, {5})},
                           .attributes = {},
                           .outputs = 2});
      },
      attribute(integer("largest", 0)));
  table.add(
      family, "TopK: values not sorted",
      [](Rng& rng) {
        return network_of({.op = "TopK",
                           .inputs = {normal(rng, {4, 20})},
                           .constants = {tensor<std::int64_t>({1}, {5})},
                           .attributes = {},
                           .outputs = 2});
      },
      output(ends_exchanged(1)));
}

}  // namespace driftscope::faults::reductions
