// Compiled for size on the web (cmake/core.cmake).
#include "core/lowering/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace driftscope::lowering {
namespace {

template <class T>
void to_numbers(std::span<const std::byte> source, std::span<float> target) {
  for (std::size_t i = 0; i < target.size(); ++i) {
    T element;
    std::memcpy(&element, source.data() + i * sizeof(T), sizeof(T));
    target[i] = static_cast<float>(element);
  }
}

template <class T>
void from_numbers(std::span<const float> source, std::span<std::byte> target) {
  using Limits = std::numeric_limits<T>;
  for (std::size_t i = 0; i < source.size(); ++i) {
    // In double, which has the limits of int32 exactly.
    const double number = std::isnan(source[i]) ? 0.0 : std::nearbyint(static_cast<double>(source[i]));
    const auto element = static_cast<T>(
        std::clamp(number, static_cast<double>(Limits::min()), static_cast<double>(Limits::max())));
    std::memcpy(target.data() + i * sizeof(T), &element, sizeof(T));
  }
}

}  // namespace

Result<Tensor> as_float32(const Tensor& tensor) {
  DRIFTSCOPE_TRY(Tensor made, Tensor::make(DType::float32, tensor.shape(), "a constant"));
  to_float32(tensor.dtype(), tensor.bytes(), made.mutable_values<float>());
  return made;
}

void to_float32(DType from, std::span<const std::byte> source, std::span<float> target) {
  if (from == DType::uint8) return to_numbers<std::uint8_t>(source, target);
  if (from == DType::int8) return to_numbers<std::int8_t>(source, target);
  to_numbers<std::int32_t>(source, target);
}

void from_float32(std::span<const float> source, DType to, std::span<std::byte> target) {
  if (to == DType::uint8) return from_numbers<std::uint8_t>(source, target);
  if (to == DType::int8) return from_numbers<std::int8_t>(source, target);
  from_numbers<std::int32_t>(source, target);
}

}  // namespace driftscope::lowering
