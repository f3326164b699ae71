// A tensor's elements by their C++ type, for operators that compare or count them.
// Clients: NonZero, TopK, Unique, OneHot, ….
#pragma once

#include <cstdint>
#include <span>

#include "core/eval/integers.hpp"
#include "core/eval/kernel_context.hpp"
#include "core/numerics/math.hpp"

namespace driftscope {

/// Calls body(std::span<const T>) with the elements of an input: T is the scalar, an integer type, or
/// std::uint8_t for bool. False for other types (4-bit, complex), which no client takes.
template <class S, class Body>
bool with_elements(KernelContext<S>& context, std::size_t input, const Body& body) {
  if (is_floating(context.dtype(input))) {
    body(context.real(input));
    return true;
  }
  return context.with_integer_or_bool(context.dtype(input),
                                      [&]<class T>() { body(context.tensor(input).template values<T>()); });
}

/// Sets the given elements of an output of any type to 1; all others are 0 from the start.
template <class S, class Indices>
void set_ones(KernelContext<S>& context, std::size_t output, const Indices& indices) {
  if (is_floating(context.output_dtype(output))) {
    const auto y = context.real_output(output);
    for (const std::int64_t i : indices) y[static_cast<std::size_t>(i)] = S(1);
    return;
  }
  Tensor& tensor = context.tensor_output(output);
  const auto set = [&](auto y) {
    for (const std::int64_t i : indices) y[static_cast<std::size_t>(i)] = 1;
  };
  if (tensor.dtype() == DType::boolean)
    set(tensor.template mutable_values<std::uint8_t>());
  else
    with_integer(tensor.dtype(), [&]<class T>() { set(tensor.template mutable_values<T>()); });
}

/// a before b, every NaN after all numbers: a total order up to equal elements.
template <class T>
[[nodiscard]] bool ordered_before(const T& a, const T& b) {
  return math::value(a) < math::value(b) || (!math::is_nan(a) && math::is_nan(b));
}

}  // namespace driftscope
