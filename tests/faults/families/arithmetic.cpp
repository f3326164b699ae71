// Arithmetic of two tensors: broadcasting, integers, comparisons, casts.
#include <fmt/format.h>

#include <cstdint>

#include "tests/faults/network.hpp"

namespace driftscope::faults::arithmetic {
namespace {

MakeNetwork binary(const std::string& op, DType dtype, Shape a = {3, 5, 8}, Shape b = {5, 1}) {
  return [=](Rng& rng) {
    return network_of({.op = op,
                       .inputs = {uniform(rng, a, 0.5f, 3.0f)},
                       .constants = {uniform(rng, b, 0.5f, 3.0f)},
                       .dtype = dtype});
  };
}

MakeNetwork whole(const std::string& op, std::int64_t low, std::int64_t high, std::int64_t divisor_low = 1,
                  std::vector<Attribute> attributes = {}) {
  return [=](Rng& rng) {
    return network_of({.op = op,
                       .inputs = {integers<std::int32_t>(rng, {200}, low, high)},
                       .constants = {integers<std::int32_t>(rng, {200}, divisor_low, 9)},
                       .attributes = attributes});
  };
}

MakeNetwork cast(DType to, Tensor (*make)(Rng&)) {
  return [=](Rng& rng) {
    return network_of({.op = "Cast",
                       .inputs = {make(rng)},
                       .constants = {},
                       .attributes = {integer("to", static_cast<std::int64_t>(to))}});
  };
}

Fault values(std::function<double(double)> function) {
  return [function = std::move(function)](const NodeRun& run) -> Result<Tensors> {
    DRIFTSCOPE_TRY(Tensors outputs, run_strict(run));
    const Tensor x = as_dtype(run.inputs[0], DType::float64);
    outputs[0] = each_number([&](double, std::int64_t i) {
      return function(x.values<double>()[static_cast<std::size_t>(i)]);
    })(outputs[0]);
    return outputs;
  };
}

}  // namespace

void add_to(FaultTable& table) {
  const std::string family = "arithmetic";
  const auto add = [&](const std::string& name, MakeNetwork network, Fault fault) {
    table.add(family, name, std::move(network), std::move(fault));
  };
  for (const DType dtype : {DType::float32, DType::float16}) {
    const std::string of = dtype == DType::float32 ? ": " : ", float16: ";
    add("Add" + of + "broadcast of the row beside", binary("Add", dtype), input(1, rolled(0)));
    add("Add" + of + "second operand left out", binary("Add", dtype),
        input(1, each([](double, std::int64_t) { return 0.0; })));
    add("Sub" + of + "operands exchanged", binary("Sub", dtype, {4, 8}, {4, 8}), swapped(0, 1));
    add("Mul" + of + "added instead", binary("Mul", dtype), as_op("Add"));
    add("Div" + of + "by an estimate of 8 bits", binary("Div", dtype), input(1, rounded_to(8)));
    add("Div" + of + "operands exchanged", binary("Div", dtype, {4, 8}, {4, 8}), swapped(0, 1));
    add("Pow" + of + "absolute exponent of the element beside", binary("Pow", dtype), input(1, rolled(0)));
    add("Max" + of + "minimum instead", binary("Max", dtype), as_op("Min"));
    add(
        "Where" + of + "branches exchanged",
        [dtype](Rng& rng) {
          return network_of({.op = "Where",
                             .inputs = {as_dtype(integers<std::uint8_t>(rng, {6, 6}, 0, 1), DType::boolean)},
                             .constants = {normal(rng, {6, 6}), normal(rng, {6, 6})},
                             .dtype = dtype});
        },
        swapped(1, 2));
  }
  add("Pow: exp(b · log a) in float16", binary("Pow", DType::float32), output(through_float16()));
  add(
      "Mul: result flushed below 2⁻¹⁰⁰",
      [](Rng& rng) {
        return network_of(
            {.op = "Mul", .inputs = {normal(rng, {100}, 1e-20f)}, .constants = {normal(rng, {100}, 1e-12f)}});
      },
      output(each([](double x, std::int64_t) { return std::fabs(x) < 0x1p-100 ? 0.0 : x; })));
  add("Div, int32: rounded to the nearest", whole("Div", -50, 50), [](const NodeRun& run) -> Result<Tensors> {
    DRIFTSCOPE_TRY(Tensors outputs, run_strict(run));
    const auto a = run.inputs[0].values<std::int32_t>(), b = run.inputs[1].values<std::int32_t>();
    outputs[0] = each_number([&](double, std::int64_t i) {
      const auto at = static_cast<std::size_t>(i);
      return std::round(static_cast<double>(a[at]) / static_cast<double>(b[at]));
    })(outputs[0]);
    return outputs;
  });
  add("Div, int32: floor of negative quotients", whole("Div", -50, 50),
      [](const NodeRun& run) -> Result<Tensors> {
        DRIFTSCOPE_TRY(Tensors outputs, run_strict(run));
        const auto a = run.inputs[0].values<std::int32_t>(), b = run.inputs[1].values<std::int32_t>();
        outputs[0] = each_number([&](double, std::int64_t i) {
          const auto at = static_cast<std::size_t>(i);
          return std::floor(static_cast<double>(a[at]) / static_cast<double>(b[at]));
        })(outputs[0]);
        return outputs;
      });
  add("Mod: sign of the dividend", whole("Mod", -50, 50), attribute(integer("fmod", 1)));
  add("Mul, int32: through float32", whole("Mul", 20'000'000, 20'000'100, 5),
      output(each_number([](double x, std::int64_t) { return static_cast<double>(static_cast<float>(x)); })));
  add("Add, int32: saturated in 24 bits", whole("Add", 8'388'600, 8'388'606),
      output(each_number([](double x, std::int64_t) { return std::fmin(x, 8'388'607.0); })));
  add(
      "BitShift: right for left",
      [](Rng& rng) {
        return network_of({.op = "BitShift",
                           .inputs = {integers<std::uint8_t>(rng, {60}, 16, 31)},
                           .constants = {integers<std::uint8_t>(rng, {60}, 1, 3)},
                           .attributes = {text("direction", "LEFT")}});
      },
      attribute(text("direction", "RIGHT")));
  for (const auto& [right, wrong] :
       {std::pair("Less", "LessOrEqual"), std::pair("Greater", "Less"), std::pair("Equal", "GreaterOrEqual")})
    add(fmt::format("{}: {} instead", right, wrong), whole(right, 0, 9), as_op(wrong));
  add(
      "And: or instead",
      [](Rng& rng) {
        return network_of({.op = "And",
                           .inputs = {as_dtype(integers<std::uint8_t>(rng, {60}, 0, 1), DType::boolean)},
                           .constants = {as_dtype(integers<std::uint8_t>(rng, {60}, 0, 1), DType::boolean)}});
      },
      as_op("Or"));
  add(
      "Not: kept",
      [](Rng& rng) {
        return network_of({.op = "Not",
                           .inputs = {as_dtype(integers<std::uint8_t>(rng, {60}, 0, 1), DType::boolean)},
                           .constants = {}});
      },
      values([](double x) { return x; }));
  const auto floats = [](Rng& rng) { return uniform(rng, {200}, -100.0f, 100.0f); };
  add("Cast to int32: rounded", cast(DType::int32, floats),
      values([](double x) { return std::nearbyint(x); }));
  add("Cast to int32: floor", cast(DType::int32, floats), values([](double x) { return std::floor(x); }));
  add("Cast to float16: truncated", cast(DType::float16, floats), values([](double x) {
        const double step = std::ldexp(1.0, std::ilogb(x) - 10);
        return std::trunc(x / step) * step;
      }));
  add("Cast to bfloat16: truncated", cast(DType::bfloat16, floats), values([](double x) {
        const double step = std::ldexp(1.0, std::ilogb(x) - 7);
        return std::trunc(x / step) * step;
      }));
  add("Cast to boolean: of the whole part",
      cast(DType::boolean, [](Rng& rng) { return uniform(rng, {200}, -0.9f, 0.9f); }),
      values([](double x) { return std::trunc(x) != 0.0 ? 1.0 : 0.0; }));
  add("Cast of int64 to float64: through float32",
      cast(DType::float64,
           [](Rng& rng) { return integers<std::int64_t>(rng, {100}, 1LL << 40, (1LL << 40) + 1000000); }),
      output(each_number([](double x, std::int64_t) { return static_cast<double>(static_cast<float>(x)); })));
  add("Cast of uint8: taken as signed",
      cast(DType::float32, [](Rng& rng) { return integers<std::uint8_t>(rng, {100}, 0, 255); }),
      values([](double x) { return x > 127.0 ? x - 256.0 : x; }));
}

}  // namespace driftscope::faults::arithmetic
