// A value between nodes that are evaluated in the scalar S. Clients: evaluate, verify, the kernels of
// control flow.
#pragma once

#include <vector>

#include "core/model/tensor.hpp"

namespace driftscope {

/// Floating tensors as S, others as Tensor. Floating ones that are known exactly may stay in `tensor`
/// with `real` empty; where strict kernels pass values on they always do: no bit changes on the way.
template <class S>
struct Evaluated {
  DType dtype = DType::undefined;  ///< undefined: an omitted optional
  Shape shape;
  std::vector<S> real;  ///< of an integer tensor: what it may be instead (Bounded), or nothing
  Tensor tensor;
};

}  // namespace driftscope
