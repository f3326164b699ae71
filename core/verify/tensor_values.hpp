// The elements of floating tensors as doubles, without a copy of the tensor.
// Clients: verify_element, bias.
#pragma once

#include "core/base/half.hpp"
#include "core/model/tensor.hpp"

namespace driftscope {

/// Calls body(at) with at(i): element i of a floating tensor as a double, exactly.
template <class Body>
void with_float_values(const Tensor& tensor, const Body& body) {
  switch (tensor.dtype()) {
    case DType::float32:
      return body([v = tensor.values<float>()](std::size_t i) { return static_cast<double>(v[i]); });
    case DType::float64: return body([v = tensor.values<double>()](std::size_t i) { return v[i]; });
    case DType::float16:
      return body(
          [v = tensor.values<std::uint16_t>()](std::size_t i) { return widen(float16_format, v[i]); });
    default:
      return body(
          [v = tensor.values<std::uint16_t>()](std::size_t i) { return widen(bfloat16_format, v[i]); });
  }
}

/// The same for two tensors of one dtype: body(a_at, b_at).
template <class Body>
void with_float_values(const Tensor& a, const Tensor& b, const Body& body) {
  with_float_values(
      a, [&](const auto& a_at) { with_float_values(b, [&](const auto& b_at) { body(a_at, b_at); }); });
}

}  // namespace driftscope
