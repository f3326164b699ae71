// LayerNormalization, opset 17 to 21: over all axes from `axis` on,
// Y = (X − mean)/√(variance + ε)·Scale + B; on request also the mean and 1/√(variance + ε), in the type
// that stash_type names.
//
// Strict definition (float): moments.hpp. ONNX Runtime's kernels take the variance in one pass, PyTorch's
// in Welford's way, and the bound covers both.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/graph/attributes.hpp"
#include "core/numerics/moments.hpp"
#include "core/ops/shared/elementwise.hpp"
#include "core/ops/shared/reduction.hpp"

namespace driftscope::ops::layer_normalization {

constexpr std::array<std::string_view, 3> names = {"X", "Scale", "B"};

Result<std::size_t> read_axis(const Node& node, std::size_t rank) {
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", -1));
  auto axis = normalize_axis(given, rank);
  if (!axis.ok()) return in_context(std::move(axis).error(), "attribute axis");
  return *axis;
}

Result<DType> stash_type(const Node& node) {
  DRIFTSCOPE_TRY(const std::int64_t number, int_attribute(node, "stash_type", 1));
  const auto dtype = dtype_from_onnx(number);
  if (!dtype || (*dtype != DType::float32 && *dtype != DType::bfloat16))
    return bad_input(
        fmt::format("attribute stash_type: expected 1 (float32) or 16 (bfloat16), got {}", number));
  return *dtype;
}

// Scale and B are broadcast to X, one way: also along axes before `axis`.
Status check_parameter(const InferContext& context, std::size_t i) {
  const auto& shape = context.input(i).shape;
  if (!context.has_input(i) || !shape) return {};
  const SymbolicShape& x = *context.input(0).shape;
  const auto both = broadcast(*shape, x);
  bool fits = both.ok() && both->size() == x.size();
  for (std::size_t k = 0; fits && k < x.size(); ++k) fits = unify((*both)[k], x[k]).has_value();
  if (fits) return {};
  return bad_input(fmt::format("{}: shape {} cannot be broadcast to that of input 0 (X: shape {})",
                               input_label(i, names[i]), shape_text(*shape), shape_text(x)));
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  for (std::size_t i = 0; i < names.size(); ++i)
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::floating));
  DRIFTSCOPE_TRY(const DType dtype, common_dtype(context, names));
  DRIFTSCOPE_TRY(const DType stash, stash_type(context.node()));
  TensorType statistics{stash, std::nullopt};
  if (const auto& x = context.input(0).shape) {
    DRIFTSCOPE_TRY(const std::size_t axis, read_axis(context.node(), x->size()));
    for (std::size_t i = 1; i < names.size(); ++i) DRIFTSCOPE_CHECK(check_parameter(context, i));
    statistics.shape = *x;
    for (std::size_t i = axis; i < x->size(); ++i) (*statistics.shape)[i] = known_dimension(1);
  }
  std::vector<TensorType> outputs = {TensorType{dtype, context.input(0).shape}, statistics, statistics};
  outputs.resize(context.node().outputs.size());
  return outputs;
}

// Scale or B, broadcast to X.
template <class S>
class Parameter {
 public:
  /// Without the input all its elements are `fallback`.
  Parameter(KernelContext<S>& context, std::size_t i, std::size_t axis, S fallback)
      : x_(context.shape(0)), size_(element_count(std::span(x_).subspan(axis))) {
    if (!context.has_input(i)) {
      same_.assign(static_cast<std::size_t>(size_), fallback);
      return;
    }
    values_ = context.real(i);
    strides_ = {broadcast_strides(context.shape(i), x_)};
    const bool varies = std::ranges::any_of(std::span(strides_[0]).first(axis),
                                            [](std::int64_t stride) { return stride != 0; });
    if (!varies) same_ = lane(0);
  }

  /// The elements for lane `index`, made in `scratch` unless every lane has the same.
  [[nodiscard]] std::span<const S> of_lane(std::int64_t index, std::vector<S>& scratch) const {
    if (!same_.empty()) return same_;
    scratch = lane(index);
    return scratch;
  }

 private:
  [[nodiscard]] std::vector<S> lane(std::int64_t index) const {
    std::vector<S> values(static_cast<std::size_t>(size_));
    for (std::size_t k = 0; k < values.size(); ++k) {
      const std::int64_t at = index * size_ + static_cast<std::int64_t>(k);
      values[k] = values_[static_cast<std::size_t>(offsets_at(at, x_, strides_)[0])];
    }
    return values;
  }

  const Shape& x_;
  std::int64_t size_;
  std::span<const S> values_;
  std::array<Shape, 1> strides_;
  std::vector<S> same_;
};

struct LayerNormalization {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const Shape& shape = context.shape(0);
    DRIFTSCOPE_TRY(const std::size_t axis, read_axis(context.node(), shape.size()));
    DRIFTSCOPE_TRY(const float given_epsilon, float_attribute(context.node(), "epsilon", 1e-5f));
    const S epsilon = math::exact<S>(static_cast<double>(given_epsilon));
    const Shape normalized(shape.begin() + static_cast<std::ptrdiff_t>(axis), shape.end());
    const std::int64_t size = element_count(normalized);
    const std::span<const S> x = context.real(0);
    if (x.empty()) return {};
    const Parameter<S> scales(context, 1, axis, S(1));
    const Parameter<S> biases(context, 2, axis, S(0));
    const auto count = static_cast<std::size_t>(size);
    context.parallel_for(static_cast<std::int64_t>(x.size()) / size, lane_grain(size),
                         [&](std::int64_t begin, std::int64_t end) {
                           std::vector<S> own_scale;
                           std::vector<S> own_bias;
                           for (std::int64_t row = begin; row < end; ++row) {
                             const std::span<const S> lane =
                                 x.subspan(static_cast<std::size_t>(row * size), count);
                             const auto [mean, variance] = moments_of(lane, true, Passes::one_or_two);
                             const S inverse = inverse_deviation(variance, epsilon);
                             const Standardize<S> standardize{mean, inverse};
                             const std::span<const S> scale = scales.of_lane(row, own_scale);
                             const std::span<const S> bias = biases.of_lane(row, own_bias);
                             if (context.wants_output(0))
                               for (std::size_t i = 0; i < count; ++i)
                                 context.real_output(0)[static_cast<std::size_t>(row * size) + i] =
                                     standardize(lane[i], scale[i], bias[i]);
                             if (context.wants_output(1))
                               context.real_output(1)[static_cast<std::size_t>(row)] = mean;
                             if (context.wants_output(2))
                               context.real_output(2)[static_cast<std::size_t>(row)] = inverse;
                           }
                         });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<LayerNormalization>(
      {.op_type = "LayerNormalization", .since = 17, .inputs = {2, 3}, .outputs = {1, 3}, .infer = infer}));
}

}  // namespace driftscope::ops::layer_normalization
