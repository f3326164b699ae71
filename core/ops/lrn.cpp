// LRN, opset 1 to 21: y = x / (bias + alpha/size·Σ x²)^beta, the sum over `size` neighbouring channels.
//
// Strict definition (float): the squares from the first channel on, then (α/size)·Σ + bias, x / pow.
#include <fmt/format.h>

#include "core/graph/attributes.hpp"
#include "core/numerics/math.hpp"
#include "core/numerics/sum.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::lrn {

struct Options {
  float alpha = 1e-4f;
  float beta = 0.75f;
  float bias = 1.0f;
  std::int64_t size = 1;
};

Result<Options> read_options(const Node& node) {
  Options options;
  DRIFTSCOPE_TRY(options.alpha, float_attribute(node, "alpha", 1e-4f));
  DRIFTSCOPE_TRY(options.beta, float_attribute(node, "beta", 0.75f));
  DRIFTSCOPE_TRY(options.bias, float_attribute(node, "bias", 1.0f));
  DRIFTSCOPE_TRY(options.size, int_attribute(node, "size", 0));
  if (options.size < 1)
    return bad_input(fmt::format("attribute size: expected at least 1, got {}", options.size));
  return options;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::floating));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "X", 2, std::size_t(-1)));
  if (auto options = read_options(context.node()); !options.ok()) return std::move(options).error();
  return std::vector{context.input(0)};
}

template <class S>
S constant(float x) {
  return math::exact<S>(static_cast<double>(x));
}

// Covers a division by the power and a multiplication by the power of −β, and squares that are scaled
// one by one.
template <class S>
S normalize(S x, S squares, const Options& options) {
  const S weight = constant<S>(options.alpha) / math::exact<S>(static_cast<double>(options.size));
  const S base = weight * squares + constant<S>(options.bias);
  if constexpr (std::is_same_v<S, Bounded>)
    return math::round_more(x / math::pow(math::round_more(base, 1), constant<S>(options.beta)), 1);
  else
    return x / math::pow(base, constant<S>(options.beta));
}

struct Lrn {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const Options options, read_options(context.node()));
    const Shape& shape = context.shape(0);
    const std::span<const S> x = context.real(0);
    const std::span<S> y = context.real_output(0);
    if (x.empty()) return {};
    const std::int64_t channels = shape[1];
    const std::int64_t plane = static_cast<std::int64_t>(x.size()) / (shape[0] * channels);
    const std::int64_t before = std::min(channels, (options.size - 1) / 2);
    const std::int64_t after = std::min(channels, options.size / 2);
    context.parallel_for(shape[0] * channels, std::max<std::int64_t>(1, 1024 / plane),
                         [&](std::int64_t begin, std::int64_t end) {
                           for (std::int64_t item = begin; item < end; ++item) {
                             const std::int64_t c = item % channels;
                             const std::int64_t first = std::max<std::int64_t>(0, c - before);
                             const std::int64_t last = std::min(channels - 1, c + after);
                             for (std::int64_t i = 0; i < plane; ++i) {
                               const auto at = [&](std::int64_t channel) {
                                 return x[static_cast<std::size_t>((item - c + channel) * plane + i)];
                               };
                               Sum<S> squares;
                               for (std::int64_t k = first; k <= last; ++k) squares.add_product(at(k), at(k));
                               y[static_cast<std::size_t>(item * plane + i)] =
                                   normalize(at(c), squares.result(), options);
                             }
                           }
                         });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Lrn>({.op_type = "LRN", .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::lrn
