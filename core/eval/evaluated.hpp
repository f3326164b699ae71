// A value between nodes that are evaluated in the scalar S. Clients: evaluate, verify, the kernels of
// control flow.
#pragma once

#include <vector>

#include "core/base/result.hpp"
#include "core/model/tensor.hpp"

namespace driftscope {

class ThreadPool;

/// Floating tensors as S, others as Tensor. Exactly known floating ones may stay in `tensor`
/// with `real` empty; values that strict kernels pass on always do, so that no bit changes.
template <class S>
struct Evaluated {
  DType dtype = DType::undefined;  ///< undefined: an omitted optional
  Shape shape;
  std::vector<S> real;  ///< of an integer tensor: bounds of its possible values (Bounded), or empty
  Tensor tensor;
};

/// Every element of a floating tensor as S, exact. Throws std::bad_alloc, which evaluate turns into an
/// error.
template <class S>
[[nodiscard]] std::vector<S> lift_values(const Tensor& tensor);

/// Exact, and lifted only when a kernel asks for the elements: `real` is empty, `tensor` holds them.
template <class S>
[[nodiscard]] Evaluated<S> known(const Tensor& tensor);

/// Whether a floating value is the tensor itself, not lifted.
template <class S>
[[nodiscard]] bool is_known(const Evaluated<S>& value) {
  return value.real.empty() && value.tensor.dtype() == value.dtype && value.tensor.shape() == value.shape;
}

/// Exact: every element of the tensor as S, with no error.
template <class S>
[[nodiscard]] Result<Evaluated<S>> lift(const Tensor& tensor);

/// Rounded to the nearest of the tensor's dtype; the same on any number of threads.
template <class S>
[[nodiscard]] Result<Tensor> lower(const Evaluated<S>& value, ThreadPool* threads = nullptr);

}  // namespace driftscope
