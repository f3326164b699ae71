// Pooling: borders, padding, divisor, NaN.
#include "tests/faults/network.hpp"

namespace driftscope::faults::pooling {
namespace {

MakeNetwork pool(const std::string& op, DType dtype, std::vector<Attribute> attributes, float mean = 0.0f) {
  return [=](Rng& rng) {
    return network_of({.op = op,
                       .inputs = {normal(rng, {2, 5, 11, 11}, 1.0f, mean)},
                       .constants = {},
                       .attributes = attributes,
                       .dtype = dtype});
  };
}

}  // namespace

void add_to(FaultTable& table) {
  const std::string family = "pooling";
  const std::vector<Attribute> three = {ints("kernel_shape", {3, 3}), ints("pads", {1, 1, 1, 1}),
                                        ints("strides", {2, 2})};
  for (const DType dtype : {DType::float32, DType::float16}) {
    const std::string of = dtype == DType::float32 ? ": " : ", float16: ";
    const auto add = [&](const std::string& name, MakeNetwork network, Fault fault) {
      table.add(family, name, std::move(network), std::move(fault));
    };
    const auto max = pool("MaxPool", dtype, three, -3.0f);
    const auto average = pool("AveragePool", dtype, three, 1.0f);
    add("MaxPool" + of + "padding counts as 0", max, output(each([](double x, std::int64_t i) {
          const std::int64_t row = i / 6 % 6;
          const std::int64_t column = i % 6;
          const bool edge = row == 0 || row == 5 || column == 0 || column == 5;
          return edge ? std::fmax(x, 0.0) : x;
        })));
    add("MaxPool" + of + "last row not written", max, output(zero_from(2, 1)));
    add("MaxPool" + of + "window shifted by one", max, input(0, rolled(3)));
    add("MaxPool" + of + "channels rolled", max, output(rolled(1)));
    add("MaxPool" + of + "average instead", max, as_op("AveragePool", three));
    add("AveragePool" + of + "padding counted", average, attribute(integer("count_include_pad", 1)));
    add("AveragePool" + of + "last column not added", average, input(0, zero_from(3, 1)));
    add("AveragePool" + of + "divided by the kernel less one", average, output(scaled(9.0 / 8.0)));
    add("AveragePool" + of + "maximum instead", average, as_op("MaxPool", three));
    add("GlobalAveragePool" + of + "last element not added", pool("GlobalAveragePool", dtype, {}, 1.0f),
        input(0, zero_from(3, 1)));
    add("GlobalAveragePool" + of + "divided by n − 1", pool("GlobalAveragePool", dtype, {}, 1.0f),
        output(scaled(121.0 / 120.0)));
    add("LpPool" + of + "p of 1", pool("LpPool", dtype, {ints("kernel_shape", {2, 2}), integer("p", 2)}),
        attribute(integer("p", 1)));
  }
  table.add(family, "MaxPool: ceil_mode ignored in the last window",
            pool("MaxPool", DType::float32,
                 {ints("kernel_shape", {2, 2}), ints("strides", {2, 2}), integer("ceil_mode", 1)}),
            output(zero_from(3, 1)));
  table.add(family, "MaxPool: result rounded to float16", pool("MaxPool", DType::float32, three),
            output(through_float16()));
}

}  // namespace driftscope::faults::pooling
