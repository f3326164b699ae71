#include "core/model/tensor_elements.hpp"

namespace driftscope {

void store_packed(Tensor& tensor, std::size_t i, unsigned value) {
  const auto width = static_cast<unsigned>(bits_per_element(tensor.dtype()));
  const std::size_t bit = i * width;
  const unsigned mask = (1u << width) - 1u;
  std::byte& byte = tensor.mutable_bytes()[bit / 8];
  byte =
      (byte & static_cast<std::byte>(~(mask << bit % 8))) | static_cast<std::byte>((value & mask) << bit % 8);
}

double number_at(const Tensor& tensor, std::size_t i) {
  double number = 0.0;
  with_numbers(tensor, [&](const auto& at) { number = at(i); });
  return number;
}

std::vector<double> numbers_of(const Tensor& tensor) {
  std::vector<double> numbers(static_cast<std::size_t>(tensor.elements()));
  with_numbers(tensor, [&](const auto& at) {
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = at(i);
  });
  return numbers;
}

}  // namespace driftscope
