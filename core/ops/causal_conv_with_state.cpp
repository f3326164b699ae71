// CausalConvWithState (opset 27): a depthwise convolution along the last axis that sees no later position,
// behind the last k − 1 positions of the call before; as Concat, Conv, Swish and Slice one after the other.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/graph/attributes.hpp"
#include "core/ops/shared/composition.hpp"
#include "core/ops/shared/inferred_parts.hpp"

namespace driftscope::ops::causal_conv_with_state {

constexpr std::array<std::string_view, 4> names = {"input", "weight", "bias", "past_state"};

/// Whether Swish follows.
Result<bool> read_activation(const Node& node) {
  DRIFTSCOPE_TRY(const std::string name, string_attribute(node, "activation", "none"));
  if (name != "none" && name != "silu" && name != "swish")
    return bad_input(fmt::format("attribute activation: expected none, silu or swish, got '{}'", name));
  return name != "none";
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  for (std::size_t i = 0; i < context.input_count(); ++i)
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::floating));
  DRIFTSCOPE_TRY(const DType dtype, common_dtype(context, names));
  DRIFTSCOPE_TRY([[maybe_unused]] const bool swish, read_activation(context.node()));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, names[0], 3, 3));
  DRIFTSCOPE_CHECK(expect_rank(context, 1, names[1], 3, 3));
  TensorType state{dtype, std::nullopt};
  const auto& x = context.input(0).shape;
  const auto& weight = context.input(1).shape;
  if (x && weight) {
    const Dimension& size = weight->back();
    if (size.known() && size.size < 1)
      return bad_input(
          fmt::format("input 1 (weight): expected a kernel of 1 or more, got shape {}", shape_text(*weight)));
    const Dimension before = size.known() ? known_dimension(size.size - 1) : Dimension{};
    DRIFTSCOPE_CHECK(expect_shape(context, 1, names[1], {(*x)[1], known_dimension(1), size}));
    DRIFTSCOPE_CHECK(expect_shape(context, 2, names[2], {(*x)[1]}));
    DRIFTSCOPE_CHECK(expect_shape(context, 3, names[3], {(*x)[0], (*x)[1], before}));
    state.shape = {(*x)[0], (*x)[1], before};
  }
  std::vector<TensorType> outputs = {TensorType{dtype, x}, std::move(state)};
  outputs.resize(context.node().outputs.size());
  return outputs;
}

struct CausalConvWithState {
  template <class S>
  static Status run(KernelContext<S>& context) {
    using Value = typename Composition<S>::Value;
    DRIFTSCOPE_TRY(const bool swish, read_activation(context.node()));
    Composition<S> parts(context);
    const Value input = parts.input(0);
    const Value weight = parts.input(1);
    const std::int64_t before = weight->shape[2] - 1;
    Value past = parts.input(3);
    if (past == nullptr) {
      const Shape shape = {input->shape[0], input->shape[1], before};
      past = parts.keep(
          {input->dtype, shape, std::vector<S>(static_cast<std::size_t>(element_count(shape))), {}});
    }
    Value padded = input;
    if (before > 0) {
      DRIFTSCOPE_TRY(padded, parts.one("Concat", {past, input}, {{"axis", std::int64_t{2}}}));
    }
    DRIFTSCOPE_TRY(Value y,
                   parts.one("Conv", {padded, weight, parts.input(2)}, {{"group", input->shape[1]}}));
    if (swish) {
      DRIFTSCOPE_TRY(y, parts.one("Swish", {y}, {}, 24));
    }
    DRIFTSCOPE_CHECK(parts.give(0, y));
    if (!context.wants_output(1)) return {};
    const std::int64_t end = padded->shape[2];
    DRIFTSCOPE_TRY(const Value from, parts.integers({end - before}));
    DRIFTSCOPE_TRY(const Value to, parts.integers({end}));
    DRIFTSCOPE_TRY(const Value axis, parts.integers({2}));
    DRIFTSCOPE_TRY(const Value state, parts.one("Slice", {padded, from, to, axis}));
    return parts.give(1, state);
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<CausalConvWithState>(
      {.op_type = "CausalConvWithState", .since = 27, .inputs = {2, 4}, .outputs = {1, 2}, .infer = infer}));
}

}  // namespace driftscope::ops::causal_conv_with_state
