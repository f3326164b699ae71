// The elements of floating tensors as doubles, without a copy of the tensor.
// Clients: verify_element, bias.
#pragma once

#include "core/model/tensor.hpp"

namespace driftscope {

/// Calls body(at) with at(i): element i of a floating tensor as a double, exactly.
template <class Body>
void with_float_values(const Tensor& tensor, const Body& body) {
  visit_floating(tensor.dtype(), [&]<class E>() {
    body([v = tensor.values<typename E::Stored>()](std::size_t i) { return E::to_double(v[i]); });
  });
}

/// The same for two tensors of one dtype: body(a_at, b_at).
template <class Body>
void with_float_values(const Tensor& a, const Tensor& b, const Body& body) {
  with_float_values(
      a, [&](const auto& a_at) { with_float_values(b, [&](const auto& b_at) { body(a_at, b_at); }); });
}

}  // namespace driftscope
