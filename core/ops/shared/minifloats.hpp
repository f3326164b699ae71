// Elements of float8 and float4 in kernels: read as numbers, and made of numbers with ONNX's rules (Cast).
// Clients: Cast, QuantizeLinear, DequantizeLinear.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/eval/kernel_context.hpp"
#include "core/model/element.hpp"
#include "core/model/tensor_elements.hpp"
#include "core/numerics/math.hpp"

namespace driftscope {

/// Makes elements of one such type.
class MinifloatRounder {
 public:
  /// `node`: Cast, CastLike or QuantizeLinear, whose attributes saturate and round_mode say how.
  [[nodiscard]] static Result<MinifloatRounder> make(DType dtype, const Node& node);

  [[nodiscard]] std::uint8_t bits(double x) const {
    return static_cast<std::uint8_t>(narrow(format_, x, saturate_, rounding_));
  }
  /// The element made of x, with the distance to those that may come of it within its error.
  [[nodiscard]] Bounded bounded(const Bounded& x) const;

 private:
  Minifloat format_;
  bool saturate_ = true;
  MinifloatRounding rounding_ = MinifloatRounding::nearest;
};

/// One element's bits in each of `bits`.
void store_minifloats(std::span<const std::uint8_t> bits, Tensor& tensor);

/// An input of any type that is not floating as numbers, with the bounds that it carries.
template <class S>
[[nodiscard]] std::vector<S> stored_numbers(const KernelContext<S>& context, std::size_t input) {
  const Tensor& tensor = context.tensor(input);
  std::vector<S> numbers;
  numbers.reserve(static_cast<std::size_t>(tensor.elements()));
  with_numbers(tensor, [&](const auto& at) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.elements()); ++i)
      numbers.push_back(math::exact<S>(at(i)));
  });
  if constexpr (std::is_same_v<S, Bounded>) {
    const std::span<const Bounded> moved = context.real(input);
    for (std::size_t i = 0; i < moved.size(); ++i) {
      numbers[i].worst = moved[i].worst;
      numbers[i].likely = moved[i].likely;
      numbers[i].systematic = moved[i].systematic;
    }
  }
  return numbers;
}

}  // namespace driftscope
