// Normalizations: epsilon, which variance, which axis, scale and shift.
#include <fmt/format.h>

#include "tests/faults/network.hpp"

namespace driftscope::faults::normalization {
namespace {

/// `distance`: the mean, in standard deviations.
MakeNetwork instance(DType dtype, std::int64_t size, float distance, float epsilon = 1e-5f) {
  return [=](Rng& rng) {
    return network_of({.op = "InstanceNormalization",
                       .inputs = {normal(rng, {2, 4, size, size}, 1.0f, distance)},
                       .constants = {normal(rng, {4}, 0.5f, 1.0f), normal(rng, {4})},
                       .attributes = {real("epsilon", epsilon)},
                       .dtype = dtype});
  };
}

MakeNetwork layer(DType dtype, std::int64_t size, float distance, float epsilon = 1e-5f) {
  return [=](Rng& rng) {
    return network_of({.op = "LayerNormalization",
                       .inputs = {normal(rng, {6, size}, 1.0f, distance)},
                       .constants = {normal(rng, {size}, 0.5f, 1.0f), normal(rng, {size})},
                       .attributes = {real("epsilon", epsilon), integer("axis", -1)},
                       .dtype = dtype});
  };
}

MakeNetwork batch(DType dtype) {
  return [=](Rng& rng) {
    return network_of({.op = "BatchNormalization",
                       .inputs = {normal(rng, {2, 6, 5, 5})},
                       .constants = {normal(rng, {6}, 0.5f, 1.0f), normal(rng, {6}), normal(rng, {6}),
                                     uniform(rng, {6}, 0.01f, 2.0f)},
                       .attributes = {real("epsilon", 1e-3f)},
                       .dtype = dtype});
  };
}

MakeNetwork group(DType dtype) {
  return [=](Rng& rng) {
    return network_of({.op = "GroupNormalization",
                       .inputs = {normal(rng, {2, 8, 6, 6}, 1.0f, 0.5f)},
                       .constants = {normal(rng, {8}, 0.5f, 1.0f), normal(rng, {8})},
                       .attributes = {integer("num_groups", 4), real("epsilon", 1e-5f)},
                       .dtype = dtype});
  };
}

/// The result of a runtime that divides by n − 1: (y − shift) is smaller by √((n − 1)/n), shift is unchanged.
Fault unbiased(std::int64_t elements, std::size_t shift_input, std::int64_t inner) {
  return [=](const NodeRun& run) -> Result<Tensors> {
    DRIFTSCOPE_TRY(const Tensors right, run_strict(run));
    const Tensor shift = as_dtype(run.inputs.at(shift_input), DType::float64);
    const double factor = std::sqrt(static_cast<double>(elements - 1) / static_cast<double>(elements));
    const auto count = shift.elements();
    Tensors wrong;
    wrong.push_back(each([&](double y, std::int64_t i) {
      const double b = shift.values<double>()[static_cast<std::size_t>(i / inner % count)];
      return b + (y - b) * factor;
    })(right[0]));
    return wrong;
  };
}

}  // namespace

void add_to(FaultTable& table) {
  const std::string family = "normalization";
  for (const DType dtype : {DType::float32, DType::float16}) {
    const std::string of = dtype == DType::float32 ? ": " : ", float16: ";
    const auto add = [&](const std::string& op, const std::string& name, MakeNetwork network, Fault fault) {
      table.add(family, op + of + name, std::move(network), std::move(fault));
    };
    add("InstanceNormalization", "epsilon 100 times larger", instance(dtype, 12, 0.3f, 1e-3f),
        attribute(real("epsilon", 1e-1f)));
    add("InstanceNormalization", "scale of the channel beside", instance(dtype, 12, 0.3f),
        input(1, rolled(0)));
    add("InstanceNormalization", "shift left out", instance(dtype, 12, 0.3f),
        input(2, each([](double, std::int64_t) { return 0.0; })));
    add("InstanceNormalization", "statistics of the other sample", instance(dtype, 12, 0.3f),
        output(ends_exchanged(0)));
    add("InstanceNormalization", "last row not written", instance(dtype, 12, 0.3f), output(zero_from(2, 1)));
    add("LayerNormalization", "scale and shift exchanged", layer(dtype, 64, 0.5f), swapped(1, 2));
    add("LayerNormalization", "mean not subtracted from the scale", layer(dtype, 64, 0.5f),
        input(0, each([](double x, std::int64_t) { return x + 0.25 * x * x; })));
    add("LayerNormalization", "last element not in the mean", layer(dtype, 64, 3.0f),
        input(0, zero_from(1, 1)));
    add(
        "LayerNormalization", "epsilon left out at small variance",
        [dtype](Rng& rng) {
          return network_of({.op = "LayerNormalization",
                             .inputs = {normal(rng, {6, 64}, 0.01f)},
                             .constants = {normal(rng, {64}, 0.5f, 1.0f), normal(rng, {64})},
                             .attributes = {real("epsilon", 1e-4f)},
                             .dtype = dtype});
        },
        attribute(real("epsilon", 0.0f)));
    add("BatchNormalization", "epsilon left out", batch(dtype), attribute(real("epsilon", 0.0f)));
    add("BatchNormalization", "mean of the channel beside", batch(dtype), input(3, rolled(0)));
    add("BatchNormalization", "variance taken as deviation", batch(dtype),
        input(4, each([](double v, std::int64_t) { return v * v; })));
    add("BatchNormalization", "mean and shift exchanged", batch(dtype), swapped(2, 3));
    add("GroupNormalization", "two groups instead of four", group(dtype),
        attribute(integer("num_groups", 2)));
    add("GroupNormalization", "scale of the channel beside", group(dtype), input(1, rolled(0)));
  }
  for (const std::int64_t size : {12, 48, 128})
    for (const float distance : {0.0f, 4.0f})
      table.add(family,
                fmt::format("InstanceNormalization {0}×{0}, mean {1}: divided by n − 1", size, distance),
                instance(DType::float32, size, distance), unbiased(size * size, 2, size * size));
  for (const std::int64_t size : {64, 512, 4096})
    table.add(family, fmt::format("LayerNormalization of {}: divided by n − 1", size),
              layer(DType::float32, size, 0.5f), unbiased(size, 2, 1));
  for (const float epsilon : {1e-5f, 1e-3f})
    table.add(family, fmt::format("LayerNormalization: epsilon {} outside of the root", epsilon),
              layer(DType::float32, 256, 0.2f, epsilon), [epsilon](const NodeRun& run) -> Result<Tensors> {
                DRIFTSCOPE_TRY(const Tensors right, run_strict(run));
                const auto x = run.inputs[0].values<float>();
                const Tensor shift = as_dtype(run.inputs[2], DType::float64);
                const std::int64_t size = run.inputs[0].shape().back();
                Tensors wrong;
                wrong.push_back(each([&](double y, std::int64_t i) {
                  const std::int64_t row = i / size;
                  double mean = 0.0, square = 0.0;
                  for (std::int64_t k = 0; k < size; ++k)
                    mean += static_cast<double>(x[static_cast<std::size_t>(row * size + k)]) /
                            static_cast<double>(size);
                  for (std::int64_t k = 0; k < size; ++k) {
                    const double d = static_cast<double>(x[static_cast<std::size_t>(row * size + k)]) - mean;
                    square += d * d / static_cast<double>(size);
                  }
                  const double b = shift.values<double>()[static_cast<std::size_t>(i % size)];
                  const double factor = std::sqrt(square + static_cast<double>(epsilon)) /
                                        (std::sqrt(square) + static_cast<double>(epsilon));
                  return b + (y - b) * factor;
                })(right[0]));
                return wrong;
              });
  const auto lrn = [](Rng& rng) {
    return network_of(
        {.op = "LRN",
         .inputs = {normal(rng, {1, 12, 5, 5})},
         .constants = {},
         .attributes = {integer("size", 5), real("alpha", 0.3f), real("beta", 0.75f), real("bias", 1.0f)}});
  };
  table.add(family, "LRN: window of 3", lrn, attribute(integer("size", 3)));
  table.add(family, "LRN: alpha not divided by the size", lrn, attribute(real("alpha", 1.5f)));
}

}  // namespace driftscope::faults::normalization
