// Where, opset 9 to 21: X where the condition holds, else Y; all three broadcast. Moves bits.
#include <array>

#include "core/ops/shared/elementwise.hpp"

namespace driftscope::ops::where {

Result<std::vector<TensorType>> infer(const InferContext& context) {
  constexpr std::array<std::string_view, 3> names = {"condition", "X", "Y"};
  DRIFTSCOPE_CHECK(expect_kind(context, 0, names[0], Kinds::boolean));
  for (std::size_t i = 1; i < 3; ++i)
    DRIFTSCOPE_CHECK(expect_kind(context, i, names[i], Kinds::numeric_or_bool));
  const DType x = context.input(1).dtype;
  const DType y = context.input(2).dtype;
  if (x != DType::undefined && y != DType::undefined && x != y)
    return bad_input(input_label(2, "Y") + ": expected " + std::string(dtype_name(x)) +
                     " as input 1 (X) has, got " + std::string(dtype_name(y)));
  return broadcast_type(context, x == DType::undefined ? y : x);
}

struct Where {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const Broadcasted<std::uint8_t> condition = {context.shape(0),
                                                 context.tensor(0).template values<std::uint8_t>()};
    const auto choose = [&]<class T>(std::span<const T> x, std::span<const T> y, std::span<T> out) {
      map_broadcast_all(
          context, out, [](std::uint8_t c, const T& a, const T& b) { return c != 0 ? a : b; }, condition,
          Broadcasted<T>{context.shape(1), x}, Broadcasted<T>{context.shape(2), y});
    };
    if (is_floating(context.dtype(1))) {
      choose(context.real(1), context.real(2), context.real_output(0));
      return {};
    }
    context.with_integer_or_bool(context.dtype(1), [&]<class T>() {
      choose(context.tensor(1).template values<T>(), context.tensor(2).template values<T>(),
             context.tensor_output(0).template mutable_values<T>());
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Where>({.op_type = "Where",
                                 .since = 9,
                                 .inputs = {3, 3},
                                 .outputs = {1, 1},
                                 .infer = infer,
                                 .exact_copy = true}));
}

}  // namespace driftscope::ops::where
