// BatchNormalization, opset 7 to 21, inference: Y = (X − mean) / √(var + ε) · scale + B per channel.
// spatial = 0 (opset 7 and 8) has statistics per channel and position. Training is not supported.
//
// Strict definition (float): a = scale / √(var + ε), b = B − mean·a, Y = X·a + b.
#include <fmt/format.h>

#include <array>

#include "core/graph/attributes.hpp"
#include "core/numerics/math.hpp"
#include "core/numerics/sum.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::batch_normalization {

constexpr std::array<std::string_view, 5> names = {"X", "scale", "B", "mean", "var"};

Result<bool> read_spatial(const Node& node) {
  return node.opset < 9 ? flag_attribute(node, "spatial", true) : true;
}

Status check_inference(const InferContext& context) {
  DRIFTSCOPE_TRY(const std::int64_t training, int_attribute(context.node(), "training_mode", 0));
  if (training != 0)
    return unsupported("attribute training_mode: 1 is training; export the model for inference");
  for (std::size_t i = 1; i < context.node().outputs.size(); ++i)
    if (context.node().outputs[i] != no_value)
      return unsupported(fmt::format(
          "output {} is requested, which only training produces; export the model for inference", i));
  return {};
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(check_inference(context));
  for (std::size_t i = 0; i < names.size(); ++i)
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::floating));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "X", 1, std::size_t(-1)));
  DRIFTSCOPE_TRY(const bool spatial, read_spatial(context.node()));
  const auto& x = context.input(0).shape;
  for (std::size_t i = 1; i < names.size(); ++i) {
    const auto& shape = context.input(i).shape;
    if (!shape || !x) continue;
    // A vector of N numbers is N samples of one channel.
    SymbolicShape expected = {x->size() < 2 ? known_dimension(1) : (*x)[1]};
    if (!spatial) expected.assign(x->begin() + (x->size() < 2 ? 0 : 1), x->end());
    bool fits = shape->size() == expected.size();
    for (std::size_t axis = 0; fits && axis < expected.size(); ++axis)
      fits = unify((*shape)[axis], expected[axis]).has_value();
    if (!fits)
      return bad_input(fmt::format("{}: expected shape {} for input 0 (X) of shape {}, got {}",
                                   input_label(i, names[i]), shape_text(expected), shape_text(*x),
                                   shape_text(*shape)));
  }
  std::vector<TensorType> outputs(std::max<std::size_t>(1, context.node().outputs.size()));
  outputs[0] = context.input(0);
  return outputs;
}

// The scale and shift applied to every element of one channel.
template <class S>
struct Normalize {
  S a;
  S b;
  Normalize(S scale, S bias, S mean, S variance, S epsilon)
      : a(scale / math::sqrt(variance + epsilon)), b(bias - mean * a) {}
  S operator()(S x) const { return x * a + b; }
};

// Covers this form, (x − mean)·a + B and (x − mean)·(1/√…)·scale + B in any order: the three terms of
// the expanded sum, `a` through the reciprocal, and one rounding more than the sum itself has.
template <>
struct Normalize<Bounded> {
  Bounded a;
  Bounded shift;
  Bounded bias;
  Normalize(Bounded scale, Bounded b, Bounded mean, Bounded variance, Bounded epsilon)
      : a(scale * (Bounded(1.0) / sqrt(variance + epsilon))), shift(-mean), bias(b) {}
  Bounded operator()(Bounded x) const {
    Sum<Bounded> sum(bias);
    sum.add_product(x, a);
    sum.add_product(shift, a);
    sum.round_once_more();
    return sum.result();
  }
};

struct BatchNormalization {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const float epsilon, float_attribute(context.node(), "epsilon", 1e-5f));
    DRIFTSCOPE_TRY(const bool spatial, read_spatial(context.node()));
    const Shape& shape = context.shape(0);
    const std::span<const S> x = context.real(0);
    const std::span<S> y = context.real_output(0);
    if (y.empty()) return {};
    // Statistics repeat every `groups` planes of `plane` elements.
    const std::int64_t channels = shape.size() < 2 ? 1 : shape[1];
    const std::int64_t positions = static_cast<std::int64_t>(x.size()) / (shape[0] * channels);
    const std::int64_t groups = spatial ? channels : channels * positions;
    const std::int64_t plane = spatial ? positions : 1;
    const S eps = math::exact<S>(static_cast<double>(epsilon));
    context.parallel_for(static_cast<std::int64_t>(x.size()) / plane, std::max<std::int64_t>(1, 8192 / plane),
                         [&](std::int64_t begin, std::int64_t end) {
                           for (std::int64_t item = begin; item < end; ++item) {
                             const auto c = static_cast<std::size_t>(item % groups);
                             const Normalize<S> normalize(context.real(1)[c], context.real(2)[c],
                                                          context.real(3)[c], context.real(4)[c], eps);
                             for (auto i = static_cast<std::size_t>(item * plane);
                                  i < static_cast<std::size_t>((item + 1) * plane); ++i)
                               y[i] = normalize(x[i]);
                           }
                         });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<BatchNormalization>(
      {.op_type = "BatchNormalization", .since = 7, .inputs = {5, 5}, .outputs = {1, 5}, .infer = infer}));
}

}  // namespace driftscope::ops::batch_normalization
