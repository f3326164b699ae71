// com.microsoft SkipLayerNormalization and SkipSimplifiedLayerNormalization: the sum of input, skip and bias,
// normalized over the last axis as LayerNormalization or RMSNormalization do; on request mean, 1/deviation
// and the sum.
#include <fmt/format.h>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/composition.hpp"

namespace driftscope::ops::skip_layer_normalization {

// Inputs by number; SkipSimplifiedLayerNormalization has no beta.
struct Inputs {
  std::size_t gamma = 2;
  std::size_t beta = 3;
  std::size_t bias = 4;
};
constexpr Inputs with_beta{};
constexpr Inputs simplified{2, 99, 3};

Result<std::vector<TensorType>> infer_with(const InferContext& context, const Inputs& at) {
  const auto name = [&](std::size_t i) -> std::string_view {
    return i == 0 ? "input" : i == 1 ? "skip" : i == at.gamma ? "gamma" : i == at.bias ? "bias" : "beta";
  };
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    names.push_back(name(i));
    DRIFTSCOPE_CHECK(expect_kind(context, i, name(i), Kinds::floating));
  }
  DRIFTSCOPE_TRY(const DType dtype, common_dtype(context, names));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "input", 2, 3));
  TensorType statistics{DType::float32, std::nullopt};
  if (const auto& x = context.input(0).shape) {
    for (std::size_t i = 2; i < context.input_count(); ++i)
      DRIFTSCOPE_CHECK(expect_shape(context, i, name(i), {x->back()}));
    if (const auto& skip = context.input(1).shape) {
      // [batch, sequence, hidden], or without the batch, or with one for all.
      bool fits = skip->size() >= 2 && skip->size() <= x->size();
      for (std::size_t k = 0; fits && k < skip->size(); ++k) {
        const std::size_t axis = x->size() - skip->size() + k;
        fits = unify((*skip)[k], (*x)[axis]).has_value() || (axis == 0 && (*skip)[k].size == 1);
      }
      if (!fits)
        return bad_input(
            fmt::format("input 1 (skip): expected the shape of input 0 (input: {}), or that without "
                        "its batch, got {}",
                        shape_text(*x), shape_text(*skip)));
    }
    statistics.shape = *x;
    statistics.shape->back() = known_dimension(1);
  }
  const TensorType like{dtype, context.input(0).shape};
  std::vector<TensorType> outputs = {like, statistics, statistics, like};
  outputs.resize(context.node().outputs.size());
  return outputs;
}

template <class S>
Status normalize(KernelContext<S>& context, const Inputs& at, bool has_mean) {
  using Value = typename Composition<S>::Value;
  Composition<S> parts(context);
  DRIFTSCOPE_TRY(const float epsilon, float_attribute(context.node(), "epsilon", 1e-12f));
  DRIFTSCOPE_TRY(Value sum, parts.one("Add", {parts.input(0), parts.input(1)}));
  if (context.has_input(at.bias)) {
    DRIFTSCOPE_TRY(sum, parts.one("Add", {sum, parts.input(at.bias)}));
  }
  DRIFTSCOPE_CHECK(parts.give(3, sum));
  const std::vector<Attribute> attributes = {{"axis", std::int64_t{-1}}, {"epsilon", epsilon}};
  if (!has_mean) {
    const std::size_t outputs = context.wants_output(2) ? 2 : 1;
    DRIFTSCOPE_TRY(const auto made, parts.all("SimplifiedLayerNormalization", {sum, parts.input(at.gamma)},
                                              attributes, outputs));
    if (outputs == 2) DRIFTSCOPE_CHECK(parts.give(2, made[1]));
    return parts.give(0, made[0]);
  }
  const std::size_t outputs = context.wants_output(2) ? 3 : context.wants_output(1) ? 2 : 1;
  DRIFTSCOPE_TRY(const auto made,
                 parts.all("LayerNormalization", {sum, parts.input(at.gamma), parts.input(at.beta)},
                           attributes, outputs));
  for (std::size_t o = 1; o < outputs; ++o) DRIFTSCOPE_CHECK(parts.give(o, made[o]));
  return parts.give(0, made[0]);
}

struct SkipLayerNormalization {
  static Result<std::vector<TensorType>> infer(const InferContext& context) {
    return infer_with(context, with_beta);
  }
  template <class S>
  static Status run(KernelContext<S>& context) {
    return normalize(context, with_beta, true);
  }
};

struct SkipSimplifiedLayerNormalization {
  static Result<std::vector<TensorType>> infer(const InferContext& context) {
    // ONNX Runtime makes no mean here.
    if (context.node().outputs.size() > 1 && context.node().outputs[1] != no_value)
      return unsupported("SkipSimplifiedLayerNormalization with output 1 (mean): no runtime defines it");
    return infer_with(context, simplified);
  }
  template <class S>
  static Status run(KernelContext<S>& context) {
    return normalize(context, simplified, false);
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<SkipLayerNormalization>({.op_type = "SkipLayerNormalization",
                                                  .domain = microsoft_domain,
                                                  .inputs = {3, 5},
                                                  .outputs = {1, 4},
                                                  .infer = SkipLayerNormalization::infer}));
  table.add(
      with_kernels<SkipSimplifiedLayerNormalization>({.op_type = "SkipSimplifiedLayerNormalization",
                                                      .domain = microsoft_domain,
                                                      .inputs = {3, 4},
                                                      .outputs = {1, 4},
                                                      .infer = SkipSimplifiedLayerNormalization::infer}));
}

}  // namespace driftscope::ops::skip_layer_normalization
