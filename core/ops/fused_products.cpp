// com.microsoft FusedMatMul (alpha, transposed factors), FusedGemm and FusedConv (an activation behind;
// FusedConv also a term that is added before it): ONNX's operators one after the other.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>

#include "core/graph/attributes.hpp"
#include "core/numerics/math.hpp"
#include "core/ops/shared/composition.hpp"
#include "core/ops/shared/inferred_parts.hpp"

namespace driftscope::ops::fused_products {

// ---- activations ----

// An activation as a node of ONNX's.
struct Activation {
  std::string op_type;
  std::vector<Attribute> attributes;
  std::optional<std::pair<float, float>> limits;  // of Clip
};

Result<std::optional<Activation>> activation_of(const Node& node, std::string_view name,
                                                std::vector<float> numbers) {
  if (name.empty()) return std::optional<Activation>();
  const auto number = [&](std::size_t i) {
    return i < numbers.size() ? std::optional(numbers[i]) : std::nullopt;
  };
  Activation result{std::string(name), {}, {}};
  const auto set = [&](std::string_view attribute, std::optional<float> value) {
    if (value) result.attributes.push_back({std::string(attribute), *value});
  };
  if (name == "Relu" || name == "Tanh" || name == "Sigmoid" || name == "Softplus" || name == "Softsign" ||
      name == "HardSwish")
    return std::optional(result);
  if (name == "Clip") {
    if (numbers.size() != 2)
      return bad_input(fmt::format("activation Clip: expected two parameters, got {}", numbers.size()));
    result.limits = {numbers[0], numbers[1]};
    return std::optional(result);
  }
  if (name == "LeakyRelu" || name == "Elu" || name == "HardSigmoid" || name == "ThresholdedRelu") {
    set("alpha", number(0));
    if (name == "HardSigmoid") set("beta", number(1));
    return std::optional(result);
  }
  return unsupported(fmt::format("{} with activation {} is not known here", node.op_type, name));
}

template <class S>
Result<const Evaluated<S>*> activated(Composition<S>& parts, const std::optional<Activation>& activation,
                                      const Evaluated<S>* x) {
  if (!activation) return x;
  if (!activation->limits) return parts.one(activation->op_type, {x}, activation->attributes);
  return parts.one("Clip", {x, parts.number(x->dtype, math::given<S>(activation->limits->first)),
                            parts.number(x->dtype, math::given<S>(activation->limits->second))});
}

Result<std::optional<Activation>> conv_activation(const Node& node) {
  DRIFTSCOPE_TRY(const std::string name, string_attribute(node, "activation", ""));
  DRIFTSCOPE_TRY(std::vector<float> numbers, floats_attribute(node, "activation_params", {}));
  return activation_of(node, name, std::move(numbers));
}

Result<std::optional<Activation>> gemm_activation(const Node& node) {
  DRIFTSCOPE_TRY(const std::string name, string_attribute(node, "activation", ""));
  std::vector<float> numbers;
  for (const std::string_view attribute : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    if (node.attribute(attribute) == nullptr) break;
    DRIFTSCOPE_TRY(const float number, float_attribute(node, attribute, 0.0f));
    numbers.push_back(number);
  }
  return activation_of(node, name, std::move(numbers));
}

// ---- FusedMatMul ----

// The axes of a factor in the order in which it is multiplied; empty: as they are.
Result<Ints> order_of(const Node& node, std::string_view factor, std::size_t rank) {
  DRIFTSCOPE_TRY(const bool last, flag_attribute(node, fmt::format("trans{}", factor), false));
  DRIFTSCOPE_TRY(const bool batch, flag_attribute(node, fmt::format("transBatch{}", factor), false));
  if (rank < 2 || (!last && !batch)) return Ints();
  Ints order;
  // The first axis goes behind those of the batch.
  const std::int64_t first = batch ? 1 : 0;
  const auto end = static_cast<std::int64_t>(rank);
  for (std::int64_t i = first; i < end - 1; ++i) order.push_back(i);
  if (batch) order.push_back(0);
  order.push_back(end - 1);
  if (last) std::swap(order[rank - 2], order[rank - 1]);
  return order;
}

struct FusedMatMul {
  static Result<std::vector<TensorType>> infer(const InferContext& context) {
    constexpr std::array<std::string_view, 2> names = {"A", "B"};
    for (std::size_t i = 0; i < 2; ++i) DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::floating));
    DRIFTSCOPE_TRY([[maybe_unused]] const float alpha, float_attribute(context.node(), "alpha", 1.0f));
    std::vector<TensorType> factors = {context.input(0), context.input(1)};
    for (std::size_t i = 0; i < 2; ++i) {
      if (!factors[i].shape) continue;
      DRIFTSCOPE_TRY(const Ints order, order_of(context.node(), names[i], factors[i].shape->size()));
      const SymbolicShape from = *factors[i].shape;
      for (std::size_t axis = 0; axis < order.size(); ++axis)
        (*factors[i].shape)[axis] = from[static_cast<std::size_t>(order[axis])];
    }
    return infer_part(context, "MatMul", factors);
  }

  template <class S>
  static Status run(KernelContext<S>& context) {
    Composition<S> parts(context);
    DRIFTSCOPE_TRY(const float alpha, float_attribute(context.node(), "alpha", 1.0f));
    std::array<const Evaluated<S>*, 2> factors = {parts.input(0), parts.input(1)};
    constexpr std::array<std::string_view, 2> names = {"A", "B"};
    for (std::size_t i = 0; i < 2; ++i) {
      DRIFTSCOPE_TRY(const Ints order, order_of(context.node(), names[i], context.shape(i).size()));
      if (order.empty()) continue;
      DRIFTSCOPE_TRY(factors[i], parts.one("Transpose", {factors[i]}, {{"perm", order}}));
    }
    DRIFTSCOPE_TRY(const Evaluated<S>* y, parts.one("MatMul", {factors[0], factors[1]}));
    if (alpha != 1.0f) {
      DRIFTSCOPE_TRY(y, parts.one("Mul", {y, parts.number(y->dtype, math::given<S>(alpha))}));
    }
    return parts.give(0, y);
  }
};

// ---- FusedGemm ----

struct FusedGemm {
  static Result<std::vector<TensorType>> infer(const InferContext& context) {
    DRIFTSCOPE_TRY([[maybe_unused]] const auto activation, gemm_activation(context.node()));
    return infer_part(context, "Gemm", all_inputs(context), context.node().attributes.items());
  }

  template <class S>
  static Status run(KernelContext<S>& context) {
    Composition<S> parts(context);
    DRIFTSCOPE_TRY(const auto activation, gemm_activation(context.node()));
    DRIFTSCOPE_TRY(const Evaluated<S>* y, parts.one("Gemm", {parts.input(0), parts.input(1), parts.input(2)},
                                                    context.node().attributes.items()));
    DRIFTSCOPE_TRY(y, activated(parts, activation, y));
    return parts.give(0, y);
  }
};

// ---- FusedConv ----

// The added term may be where the sums start: then each partial sum is rounded at its size.
template <class S>
void start_sums_at(std::vector<S>& y, const std::vector<S>& z, std::int64_t products) {
  if constexpr (std::is_same_v<S, Bounded>) {
    const double unit = current_error_model().unit_roundoff;
    const auto count = static_cast<double>(products);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double size = unit * std::fabs(z[i].value);
      if (!std::isfinite(size)) continue;
      y[i].worst += count * size;
      y[i].likely += std::fmin(count, 8.0 * std::sqrt(count)) * size;
    }
  }
}

struct FusedConv {
  static Result<std::vector<TensorType>> infer(const InferContext& context) {
    DRIFTSCOPE_TRY([[maybe_unused]] const auto activation, conv_activation(context.node()));
    DRIFTSCOPE_CHECK(expect_kind(context, 3, "Z", Kinds::floating));
    std::vector<TensorType> own = all_inputs(context);
    if (own.size() > 3) own.pop_back();
    DRIFTSCOPE_TRY(auto outputs,
                   infer_part(context, "Conv", std::move(own), context.node().attributes.items()));
    if (outputs[0].shape) DRIFTSCOPE_CHECK(expect_shape(context, 3, "Z", *outputs[0].shape));
    return outputs;
  }

  template <class S>
  static Status run(KernelContext<S>& context) {
    Composition<S> parts(context);
    DRIFTSCOPE_TRY(const auto activation, conv_activation(context.node()));
    DRIFTSCOPE_TRY(const Evaluated<S>* y, parts.one("Conv", {parts.input(0), parts.input(1), parts.input(2)},
                                                    context.node().attributes.items()));
    if (context.has_input(3)) {
      DRIFTSCOPE_TRY(const Evaluated<S>* sum, parts.one("Add", {y, parts.input(3)}));
      Evaluated<S> widened{sum->dtype, sum->shape, parts.elements(sum), {}};
      const Shape& w = context.shape(1);
      start_sums_at(widened.real, parts.elements(parts.input(3)),
                    element_count(std::span(w).subspan(std::min<std::size_t>(1, w.size()))));
      y = parts.keep(std::move(widened));
    }
    DRIFTSCOPE_TRY(y, activated(parts, activation, y));
    return parts.give(0, y);
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<FusedMatMul>({.op_type = "FusedMatMul",
                                       .domain = microsoft_domain,
                                       .inputs = {2, 2},
                                       .outputs = {1, 1},
                                       .infer = FusedMatMul::infer}));
  table.add(with_kernels<FusedGemm>({.op_type = "FusedGemm",
                                     .domain = microsoft_domain,
                                     .inputs = {2, 3},
                                     .outputs = {1, 1},
                                     .infer = FusedGemm::infer}));
  table.add(with_kernels<FusedConv>({.op_type = "FusedConv",
                                     .domain = microsoft_domain,
                                     .inputs = {2, 4},
                                     .outputs = {1, 1},
                                     .infer = FusedConv::infer}));
}

}  // namespace driftscope::ops::fused_products
