// RandomUniform, RandomNormal, their …Like forms (opset 1 to 21), Bernoulli (15), Multinomial (7): no
// runtime has the same numbers, so there is nothing to judge; they exist so that models with
// them can run. Element i depends only on the seed and i: the same on every host and for every number of
// threads. Without a seed attribute the node's name is the seed. Normal numbers are sums of twelve
// uniform ones.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/base/rng.hpp"
#include "core/graph/attributes.hpp"
#include "core/ops/shared/elements.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::random {

// The stream of element i: disjoint from those of all others.
Rng stream(std::uint64_t seed, std::size_t i) {
  constexpr std::uint64_t steps = 16;  // of Rng for one element, at most
  return Rng(seed + i * steps * 0x9e3779b97f4a7c15ull);
}

Result<std::uint64_t> read_seed(const Node& node) {
  if (node.attribute("seed") != nullptr) {
    DRIFTSCOPE_TRY(const float seed, float_attribute(node, "seed", 0.0f));
    return Rng(std::bit_cast<std::uint32_t>(seed)).next();
  }
  std::uint64_t hash = 0xcbf29ce484222325ull;  // FNV-1a
  for (const char c : node.name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}

template <class S>
Status reject_bounds() {
  if constexpr (std::is_same_v<S, Bounded>)
    return unsupported("random numbers: every runtime has its own, there is nothing to judge");
  return {};
}

// The element type of the output: `dtype`, or `fallback`.
Result<DType> read_dtype(const Node& node, DType fallback, bool only_floating) {
  if (node.attribute("dtype") == nullptr) return fallback;
  DRIFTSCOPE_TRY(const std::int64_t number, int_attribute(node, "dtype", 0));
  const auto dtype = dtype_from_onnx(number);
  bool fits = dtype && (is_floating(*dtype) || *dtype == DType::boolean);
  if (dtype && !fits) fits = with_integer(*dtype, []<class T>() {});
  if (only_floating) fits = dtype && is_floating(*dtype);
  if (!fits) return bad_input(fmt::format("attribute dtype: {} is not a type for this", number));
  return *dtype;
}

Result<std::vector<TensorType>> infer_shaped(const InferContext& context) {
  DRIFTSCOPE_TRY(const Ints shape, ints_attribute(context.node(), "shape", {}));
  for (const std::int64_t size : shape)
    if (size < 0) return bad_input(fmt::format("attribute shape: a size is {}", size));
  DRIFTSCOPE_TRY(const DType dtype, read_dtype(context.node(), DType::float32, true));
  return std::vector{TensorType{dtype, symbolic_shape(shape)}};
}

Result<std::vector<TensorType>> infer_like(const InferContext& context) {
  DRIFTSCOPE_TRY(const DType dtype, read_dtype(context.node(), context.input(0).dtype, true));
  if (dtype != DType::undefined && !is_floating(dtype))
    return bad_input(fmt::format("input 0 (input): {} is not a floating-point type and there is no dtype",
                                 dtype_name(dtype)));
  return std::vector{TensorType{dtype, context.input(0).shape}};
}

Result<std::vector<TensorType>> infer_bernoulli(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "input", Kinds::floating));
  DRIFTSCOPE_TRY(const DType dtype, read_dtype(context.node(), context.input(0).dtype, false));
  return std::vector{TensorType{dtype, context.input(0).shape}};
}

template <bool normal>
struct Random {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_CHECK(reject_bounds<S>());
    const Node& node = context.node();
    DRIFTSCOPE_TRY(const std::uint64_t seed, read_seed(node));
    DRIFTSCOPE_TRY(const float first, float_attribute(node, normal ? "mean" : "low", 0.0f));
    DRIFTSCOPE_TRY(const float second, float_attribute(node, normal ? "scale" : "high", 1.0f));
    const float scale = normal ? second : second - first;
    const auto y = context.real_output(0);
    for (std::size_t i = 0; i < y.size(); ++i) {
      Rng rng = stream(seed, i);
      const float x = normal ? rng.normal() : rng.uniform();
      y[i] = math::exact<S>(static_cast<double>(first + scale * x));
    }
    return {};
  }
};

struct Bernoulli {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_CHECK(reject_bounds<S>());
    DRIFTSCOPE_TRY(const std::uint64_t seed, read_seed(context.node()));
    const auto chances = context.real(0);
    std::vector<std::int64_t> ones;
    for (std::size_t i = 0; i < chances.size(); ++i)
      if (static_cast<double>(stream(seed, i).uniform()) < static_cast<double>(math::value(chances[i])))
        ones.push_back(static_cast<std::int64_t>(i));
    set_ones(context, 0, ones);
    return {};
  }
};

Result<std::vector<TensorType>> infer_multinomial(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "input", Kinds::floating));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "input", 2, 2));
  DRIFTSCOPE_TRY(const DType dtype, read_dtype(context.node(), DType::int32, false));
  if (dtype != DType::int32 && dtype != DType::int64)
    return bad_input("attribute dtype: expected int32 or int64");
  DRIFTSCOPE_TRY(const std::int64_t samples, int_attribute(context.node(), "sample_size", 1));
  if (samples < 0)
    return bad_input(fmt::format("attribute sample_size: expected 0 or more, got {}", samples));
  SymbolicShape y = {Dimension{}, known_dimension(samples)};
  if (context.input(0).shape) y[0] = context.input(0).shape->front();
  return std::vector{TensorType{dtype, std::move(y)}};
}

struct Multinomial {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_CHECK(reject_bounds<S>());
    DRIFTSCOPE_TRY(const std::uint64_t seed, read_seed(context.node()));
    const Shape& shape = context.shape(0);
    const auto classes = static_cast<std::size_t>(shape[1]);
    const auto samples = static_cast<std::size_t>(context.output_shape(0)[1]);
    if (classes == 0) return bad_input("input 0 (input): there are no classes to choose from");
    // Unnormalised logarithms of the chances, added up.
    std::vector<double> sums(classes);
    with_integer(context.output_dtype(0), [&]<class T>() {
      const auto y = context.tensor_output(0).template mutable_values<T>();
      for (std::size_t row = 0; row < static_cast<std::size_t>(shape[0]); ++row) {
        const auto x = context.real(0).subspan(row * classes, classes);
        S largest = x[0];
        for (const S& value : x) largest = math::max(largest, value);
        double sum = 0.0;
        for (std::size_t i = 0; i < classes; ++i) {
          sum += static_cast<double>(math::value(math::exp(x[i] - largest)));
          sums[i] = sum;
        }
        for (std::size_t n = 0; n < samples; ++n) {
          const std::size_t i = row * samples + n;
          const double at = static_cast<double>(stream(seed, i).uniform()) * sum;
          const auto found = std::upper_bound(sums.begin(), sums.end() - 1, at);
          y[i] = static_cast<T>(found - sums.begin());
        }
      }
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  for (const bool normal : {false, true}) {
    const auto add = [&](std::string_view op_type, Count inputs, ShapeRule infer) {
      const Operator op{.op_type = op_type, .inputs = inputs, .outputs = {1, 1}, .infer = infer};
      table.add(normal ? with_kernels<Random<true>>(op) : with_kernels<Random<false>>(op));
    };
    add(normal ? "RandomNormal" : "RandomUniform", {0, 0}, infer_shaped);
    add(normal ? "RandomNormalLike" : "RandomUniformLike", {1, 1}, infer_like);
  }
  table.add(with_kernels<Bernoulli>(
      {.op_type = "Bernoulli", .since = 15, .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_bernoulli}));
  table.add(with_kernels<Multinomial>({.op_type = "Multinomial",
                                       .since = 7,
                                       .inputs = {1, 1},
                                       .outputs = {1, 1},
                                       .infer = infer_multinomial}));
}

}  // namespace driftscope::ops::random
