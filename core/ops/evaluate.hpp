// Runs one node with its reference kernel, in double, Bounded or float.
// Clients: the reference engine (double), verify (Bounded), strict where it has no faster kernel.
#pragma once

#include <span>
#include <vector>

#include "core/ops/operator.hpp"
#include "core/ops/support/evaluated.hpp"

namespace driftscope {

/// Exact, and not lifted before a kernel asks for the elements: `real` is empty, `tensor` holds them.
template <class S>
[[nodiscard]] Evaluated<S> known(const Tensor& tensor);

/// Exact: every element of the tensor as S, with no error.
template <class S>
[[nodiscard]] Result<Evaluated<S>> lift(const Tensor& tensor);

/// Rounded to the nearest of the tensor's dtype.
template <class S>
[[nodiscard]] Result<Tensor> lower(const Evaluated<S>& value, ThreadPool* threads = nullptr);

/// Outputs in the order of node.outputs. Inputs in the order of node.reads(); omitted ones have an
/// undefined dtype. Shapes are checked with the operator's shape rule first.
template <class S>
[[nodiscard]] Result<std::vector<Evaluated<S>>> evaluate(const Node& node,
                                                         std::span<const Evaluated<S>* const> inputs,
                                                         ThreadPool& threads);

/// float32 in, float32 out without copies: the plain strict kernel. A node that reads float64 is
/// computed in double.
[[nodiscard]] Result<std::vector<Tensor>> evaluate_strict(const Node& node,
                                                          std::span<const Tensor* const> inputs,
                                                          ThreadPool& threads);

}  // namespace driftscope
