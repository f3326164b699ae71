// Shape rules and kernels that elementwise operators share: one or two inputs, broadcast.
// Clients: the rows of elementwise_unary.cpp and elementwise_binary.cpp. A row says only what happens
// to one element.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/ops/operator.hpp"
#include "core/ops/support/broadcast.hpp"
#include "core/ops/support/integers.hpp"

namespace driftscope {

/// Elements that are worth handing to a thread.
inline constexpr std::int64_t elementwise_grain = 16384;

/// y[i] = apply(x[i]).
template <class T, class Apply, class S>
void map_elements(const KernelContext<S>& context, std::span<const T> x, std::span<T> y,
                  const Apply& apply) {
  context.parallel_for(static_cast<std::int64_t>(y.size()), elementwise_grain,
                       [&](std::int64_t begin, std::int64_t end) {
                         for (auto i = static_cast<std::size_t>(begin);
                              i < static_cast<std::size_t>(end); ++i)
                           y[i] = apply(x[i]);
                       });
}

/// y = apply(a, b), a and b broadcast to y's shape.
template <class T, class Apply, class S>
void map_broadcast(const KernelContext<S>& context, const Shape& a_shape, std::span<const T> a,
                   const Shape& b_shape, std::span<const T> b, std::span<T> y,
                   const Apply& apply) {
  if (y.empty()) return;
  const Shape& out = context.output_shape(0);
  const BroadcastRows extent(out);
  const std::array<Shape, 2> strides = {broadcast_strides(a_shape, out),
                                        broadcast_strides(b_shape, out)};
  const std::int64_t a_step = out.empty() ? 0 : strides[0].back();
  const std::int64_t b_step = out.empty() ? 0 : strides[1].back();
  context.parallel_for(
      extent.rows, std::max<std::int64_t>(1, elementwise_grain / extent.columns),
      [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
          const auto offsets = offsets_at(row * extent.columns, out, strides);
          T* target = y.data() + row * extent.columns;
          for (std::int64_t i = 0; i < extent.columns; ++i)
            target[i] = apply(a.data()[offsets[0] + i * a_step], b.data()[offsets[1] + i * b_step]);
        }
      });
}

}  // namespace driftscope
