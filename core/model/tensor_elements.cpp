#include "core/model/tensor_elements.hpp"

namespace driftscope {

void store_nibble(Tensor& tensor, std::size_t i, unsigned value) {
  const unsigned shift = i % 2 * 4;
  std::byte& byte = tensor.mutable_bytes()[i / 2];
  byte = (byte & static_cast<std::byte>(0xf0u >> shift)) | static_cast<std::byte>((value & 15u) << shift);
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
