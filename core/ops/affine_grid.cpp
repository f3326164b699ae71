// AffineGrid, opset 20 to 21: the points of a regular grid in [−1, 1] through a matrix per sample,
// for two or three spatial axes. With align_corners the outermost points are −1 and 1 (0 on an axis
// of one element), otherwise they lie half a step inside.
//
// Strict definition (float): coordinates in double, rounded to float32; one accumulator over the
// columns of theta, the constant last.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/graph/attributes.hpp"
#include "core/numerics/math.hpp"
#include "core/numerics/rounding.hpp"
#include "core/numerics/sum.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::affine_grid {

// N, C and the spatial sizes.
Result<Ints> read_size(const Tensor& tensor) {
  DRIFTSCOPE_TRY(Ints size, integers_of(tensor, input_label(1, "size")));
  if (size.size() != 4 && size.size() != 5)
    return bad_input(fmt::format("input 1 (size): expected 4 or 5 numbers, got {}", size.size()));
  for (const std::int64_t n : size)
    if (n < 0) return bad_input(fmt::format("input 1 (size): expected sizes, got {}", n));
  return size;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "theta", Kinds::floating));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "theta", 3, 3));
  TensorType grid{context.input(0).dtype, std::nullopt};
  const Tensor* size = context.constant(1);
  if (size == nullptr) return std::vector{std::move(grid)};
  DRIFTSCOPE_TRY(const Ints sizes, read_size(*size));
  const auto spatial = static_cast<std::int64_t>(sizes.size()) - 2;
  if (const auto& theta = context.input(0).shape) {
    const SymbolicShape wanted = symbolic_shape(Shape{sizes[0], spatial, spatial + 1});
    for (std::size_t i = 0; i < 3; ++i)
      if (!unify((*theta)[i], wanted[i]))
        return bad_input(fmt::format("input 0 (theta): expected shape {} for size {}, got {}",
                                     shape_text(wanted), shape_text(sizes), shape_text(*theta)));
  }
  Shape y = {sizes[0]};
  y.insert(y.end(), sizes.begin() + 2, sizes.end());
  y.push_back(spatial);
  grid.shape = symbolic_shape(y);
  return std::vector{std::move(grid)};
}

// Coordinate i of an axis with `length` elements; runtimes compute it in float32.
template <class S>
S coordinate(std::int64_t i, std::int64_t length, bool align_corners) {
  const auto n = static_cast<double>(length);
  const auto at = static_cast<double>(i);
  const double value = !align_corners ? (2.0 * at + 1.0) / n - 1.0
                       : length == 1  ? 0.0
                                      : 2.0 * at / (n - 1.0) - 1.0;
  S result = math::exact<S>(value);
  if constexpr (std::is_same_v<S, Bounded>)
    result.worst = result.likely = result.systematic = 4.0 * current_error_model().unit_roundoff;
  return result;
}

struct AffineGrid {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const bool align_corners, flag_attribute(context.node(), "align_corners", false));
    const Shape& shape = context.output_shape(0);
    const std::span<S> grid = context.real_output(0);
    if (grid.empty()) return {};
    const auto axes = static_cast<std::size_t>(shape.back());
    std::vector<std::vector<S>> along(axes);  // in the order of the output's axes
    for (std::size_t axis = 0; axis < axes; ++axis)
      for (std::int64_t i = 0; i < shape[axis + 1]; ++i)
        along[axis].push_back(coordinate<S>(i, shape[axis + 1], align_corners));
    const std::int64_t points = element_count(std::span(shape).subspan(1, axes));
    const std::span<const S> theta = context.real(0);
    context.parallel_for(shape[0] * points, 4096, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t item = begin; item < end; ++item) {
        std::array<S, 3> at;  // x first, so the last axis first
        std::int64_t rest = item % points;
        for (std::size_t axis = axes; axis-- > 0;) {
          at[axes - 1 - axis] = along[axis][static_cast<std::size_t>(rest % shape[axis + 1])];
          rest /= shape[axis + 1];
        }
        const auto matrix =
            theta.subspan(static_cast<std::size_t>(item / points) * axes * (axes + 1), axes * (axes + 1));
        for (std::size_t row = 0; row < axes; ++row) {
          Sum<S> sum;
          for (std::size_t column = 0; column < axes; ++column)
            sum.add_product(matrix[row * (axes + 1) + column], at[column]);
          sum.add(matrix[row * (axes + 1) + axes]);
          grid[static_cast<std::size_t>(item) * axes + row] = sum.result();
        }
      }
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<AffineGrid>(
      {.op_type = "AffineGrid", .since = 20, .inputs = {2, 2}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::affine_grid
