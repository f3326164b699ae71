// The same values with their axes in another order: NCHW beside NHWC, [1, 10] beside [1, 1, 1, 10].
// Clients: the alignment of two models, the comparison of their constants. It knows nothing of models.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/base/result.hpp"
#include "core/convert/place_tensor.hpp"
#include "core/model/tensor.hpp"

namespace driftscope::convert {

/// Axis i of the other tensor is axis order[i] of this one; empty: the same axes. {0, 2, 3, 1}: the other is
/// NHWC where this one is NCHW.
using Order = std::vector<std::size_t>;

/// The orders in which runtimes keep what ONNX has as NCHW and OIHW, and back: NHWC, HWIO, OHWI of what is
/// IOHW. For three axes and more.
[[nodiscard]] std::vector<Order> layouts_of_runtimes(std::size_t rank);

/// One axis moved to the end, and back: what our exports do where an operator needs it there.
[[nodiscard]] std::vector<Order> axes_moved_last(std::size_t rank);

/// How `other` can be the shape of the same values: the same axes first, then layouts_of_runtimes,
/// axes_moved_last, and any order (up to rank 4). An empty order with another rank: axes of length 1 were
/// added or dropped. Nothing where the shapes do not fit.
[[nodiscard]] std::vector<Order> orders_between(const Shape& shape, const Shape& other);

/// `other` in this one's order and shape: undoes one of orders_between(shape, other.shape()).
[[nodiscard]] Result<Tensor> restored(const Tensor& other, const Order& order, const Shape& shape);

/// Up to `limit` elements, evenly spaced in `tensor`, and the same ones in `other`.
struct Samples {
  std::vector<double> first;
  std::vector<double> second;
};
[[nodiscard]] Samples samples_of(const Tensor& tensor, const Tensor& other, const Order& order,
                                 std::size_t limit);

/// The same numbers as another type, rounded to it. Errors: a number that an integer type does not hold,
/// types that are not numbers.
[[nodiscard]] Result<Tensor> as_dtype(const Tensor& tensor, DType dtype);

/// Whether both are floating, or both integers or booleans.
[[nodiscard]] bool same_kind(DType a, DType b);

}  // namespace driftscope::convert
