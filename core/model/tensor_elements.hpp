// The elements of a tensor whose type is only known when it runs, packed ones included.
// Clients: operators that move elements, verify, charts, converters.
#pragma once

#include <vector>

#include "core/model/element.hpp"
#include "core/model/tensor.hpp"

namespace driftscope {

/// Element i of integers of 4 bits.
template <class T>
class NibbleView {
 public:
  explicit NibbleView(const Tensor& tensor)
      : bytes_(tensor.bytes()), size_(static_cast<std::size_t>(tensor.elements())) {}
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] unsigned bits(std::size_t i) const {
    return std::to_integer<unsigned>(bytes_[i / 2]) >> (i % 2 * 4) & 15u;
  }
  [[nodiscard]] T operator[](std::size_t i) const { return element::Nibble<T>::from_bits(bits(i)); }

 private:
  std::span<const std::byte> bytes_;
  std::size_t size_;
};

/// What can be indexed by element: a span of E::Stored, or of packed types a view of E::Value. Either
/// element goes into E::to_double.
template <class E>
[[nodiscard]] auto elements_of(const Tensor& tensor) {
  if constexpr (E::packed)
    return NibbleView<typename E::Value>(tensor);
  else
    return tensor.values<typename E::Stored>();
}

/// Writes the low 4 bits of `value`; the creator of the tensor only.
void store_nibble(Tensor& tensor, std::size_t i, unsigned value);

/// Calls body(at) with at(i): element i as a double; false for types that are not real numbers.
template <class Body>
bool with_numbers(const Tensor& tensor, const Body& body) {
  return visit_number(tensor.dtype(), [&]<class E>() {
    body([v = elements_of<E>(tensor)](std::size_t i) { return E::to_double(v[i]); });
  });
}

/// Element i as a double, for a 64-bit integer the nearest; 0 for types that are not real numbers.
[[nodiscard]] double number_at(const Tensor& tensor, std::size_t i);
/// All of them.
[[nodiscard]] std::vector<double> numbers_of(const Tensor& tensor);

}  // namespace driftscope
