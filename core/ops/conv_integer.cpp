// ConvInteger, opset 10 to 21: the convolution of x − x_zero_point and w − w_zero_point in 32-bit
// integers, which wrap around. Padding counts as x_zero_point. w's zero point: one, or one per
// output channel.
// Compiled for size on the web (cmake/core.cmake).
#include <algorithm>

#include "core/ops/shared/integer_products.hpp"

namespace driftscope::ops::conv_integer {

constexpr std::array<std::string_view, 4> names = {"x", "w", "x_zero_point", "w_zero_point"};

Result<std::vector<TensorType>> infer(const InferContext& context) {
  for (std::size_t i = 0; i < names.size(); ++i) DRIFTSCOPE_CHECK(expect_bytes(context, i, names[i]));
  DRIFTSCOPE_CHECK(check_one(context, 2, names[2]));
  DRIFTSCOPE_CHECK(check_per_channel(context, 3, names[3], context.input(1).shape));
  constexpr std::size_t none = 99;
  DRIFTSCOPE_TRY(auto shape, infer_convolution(context, {0, 1, none, {names[0], names[1], ""}}));
  return std::vector{TensorType{DType::int32, std::move(shape)}};
}

struct ConvInteger {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const auto zeros = [&](std::size_t i) { return context.has_input(i) ? &context.tensor(i) : nullptr; };
    const auto x = less_zero_points(context.tensor(0), zeros(2), 1, context.tensor(0).elements(), true);
    const std::int64_t channels = context.shape(1)[0];
    const auto w =
        less_zero_points(context.tensor(1), zeros(3), channels, per_channel(context.shape(1)), true);
    DRIFTSCOPE_TRY(const auto y, convolve_integers(context, context.shape(0), x, context.shape(1), w, {}));
    std::copy(y.begin(), y.end(), context.tensor_output(0).template mutable_values<std::int32_t>().begin());
    const auto x_moved = moved_elements(context, 0, 2, 1, context.tensor(0).elements(), true);
    const auto w_moved = moved_elements(context, 1, 3, channels, per_channel(context.shape(1)), true);
    return bound_products(context, std::span(y), x, w, x_moved, w_moved, [&](const auto& p, const auto& q) {
      return convolve_integers(context, context.shape(0), p, context.shape(1), q, {});
    });
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<ConvInteger>(
      {.op_type = "ConvInteger", .since = 10, .inputs = {2, 4}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::conv_integer
