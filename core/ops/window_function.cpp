// HannWindow, HammingWindow, BlackmanWindow, opset 17 to 21: a₀ − a₁·cos(2πn/N) + a₂·cos(4πn/N)
// with N = size (periodic) or size − 1 (symmetric). Floating output types.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/graph/attributes.hpp"
#include "core/numerics/math.hpp"
#include "core/ops/shared/elementwise.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::window_function {

struct Hann {
  static constexpr double a0 = 0.5, a1 = 0.5, a2 = 0.0;
};
struct Hamming {
  static constexpr double a0 = 25.0 / 46.0, a1 = 21.0 / 46.0, a2 = 0.0;
};
struct Blackman {
  static constexpr double a0 = 0.42, a1 = 0.5, a2 = 0.08;
};

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_TRY(const std::int64_t number, int_attribute(context.node(), "output_datatype", 1));
  const auto dtype = dtype_from_onnx(number);
  if (!dtype || !is_floating(*dtype))
    return unsupported(
        fmt::format("attribute output_datatype: windows are made in floating-point "
                    "types, got number {}",
                    number));
  DRIFTSCOPE_TRY([[maybe_unused]] const bool periodic, flag_attribute(context.node(), "periodic", true));
  TensorType y{*dtype, unknown_shape(1)};
  if (const Tensor* size = context.constant(0)) {
    DRIFTSCOPE_TRY(const Ints list, integers_of(*size, input_label(0, "size")));
    if (list.size() != 1 || list[0] < 0)
      return bad_input(fmt::format("input 0 (size): expected one size, got [{}]", fmt::join(list, ",")));
    y.shape->front() = known_dimension(list[0]);
  }
  return std::vector{std::move(y)};
}

template <class Window>
struct WindowFunction {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const bool periodic, flag_attribute(context.node(), "periodic", true));
    const std::span<S> y = context.real_output(0);
    const auto size = static_cast<double>(y.size());
    const S length = math::exact<S>(periodic ? size : size - 1.0);
    const S turn = math::rounded_constant<S>(6.283185307179586476925286766559);
    const S a0 = math::rounded_constant<S>(Window::a0);
    const S a1 = math::rounded_constant<S>(Window::a1);
    const S a2 = math::rounded_constant<S>(Window::a2);
    context.parallel_for(static_cast<std::int64_t>(y.size()), elementwise_grain,
                         [&](std::int64_t begin, std::int64_t end) {
                           for (std::int64_t i = begin; i < end; ++i) {
                             const S angle = turn * math::exact<S>(static_cast<double>(i)) / length;
                             S value = a0 - a1 * math::cos(angle);
                             if (Window::a2 != 0.0) value = value + a2 * math::cos(angle + angle);
                             // Also written with squares of sines.
                             if constexpr (std::is_same_v<S, Bounded>) value = math::round_more(value, 4);
                             y[static_cast<std::size_t>(i)] = value;
                           }
                         });
    return {};
  }
};

template <class Window>
void add_row(OperatorTable& table, std::string_view op_type) {
  table.add(with_kernels<WindowFunction<Window>>(
      {.op_type = op_type, .since = 17, .inputs = {1, 1}, .outputs = {1, 1}, .infer = infer}));
}

void add_to(OperatorTable& table) {
  add_row<Hann>(table, "HannWindow");
  add_row<Hamming>(table, "HammingWindow");
  add_row<Blackman>(table, "BlackmanWindow");
}

}  // namespace driftscope::ops::window_function
