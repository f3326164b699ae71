// The elements of a tensor whose type is only known when it runs, packed ones included.
// Clients: operators that move elements, verify, charts, converters.
#pragma once

#include <vector>

#include "core/model/element.hpp"
#include "core/model/tensor.hpp"

namespace driftscope {

/// The bits of elements that share bytes, the first in the lowest ones.
class PackedElements {
 public:
  explicit PackedElements(const Tensor& tensor)
      : bytes_(tensor.bytes()),
        size_(static_cast<std::size_t>(tensor.elements())),
        width_(static_cast<unsigned>(bits_per_element(tensor.dtype()))) {}
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] unsigned operator[](std::size_t i) const {
    const std::size_t bit = i * width_;
    return std::to_integer<unsigned>(bytes_[bit / 8]) >> bit % 8 & ((1u << width_) - 1u);
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t size_;
  unsigned width_;
};

/// Element i of a packed type E.
template <class E>
class PackedView {
 public:
  explicit PackedView(const Tensor& tensor) : elements_(tensor) {}
  [[nodiscard]] std::size_t size() const { return elements_.size(); }
  [[nodiscard]] typename E::Value operator[](std::size_t i) const { return E::from_bits(elements_[i]); }

 private:
  PackedElements elements_;
};

/// What can be indexed by element: a span of E::Stored, or of packed types a view of E::Value. Either
/// element goes into E::to_double.
template <class E>
[[nodiscard]] auto elements_of(const Tensor& tensor) {
  if constexpr (E::packed)
    return PackedView<E>(tensor);
  else
    return tensor.values<typename E::Stored>();
}

/// Writes the lowest bits of `value`, as many as an element has, for the creator of a tensor of packed type.
void store_packed(Tensor& tensor, std::size_t i, unsigned value);

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
