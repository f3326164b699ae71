// MaxRoiPool, opset 1 to 21: the largest element of each bin of each region of interest; a bin
// without elements gives 0. Corners are rounded to whole elements, halves away from 0; bins reach
// from the floor of their beginning to the ceiling of their end.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/graph/attributes.hpp"
#include "core/numerics/math.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::max_roi_pool {

struct RoiAttributes {
  std::int64_t height = 1;
  std::int64_t width = 1;
  double scale = 1.0;
};

Result<RoiAttributes> read(const Node& node) {
  DRIFTSCOPE_TRY(const Ints pooled, ints_attribute(node, "pooled_shape", {}));
  constexpr std::int64_t limit = 1 << 20;
  if (pooled.size() != 2 || pooled[0] < 1 || pooled[1] < 1 || pooled[0] > limit || pooled[1] > limit)
    return bad_input(fmt::format("attribute pooled_shape: expected 2 sizes up to {}, got [{}]", limit,
                                 fmt::join(pooled, ",")));
  DRIFTSCOPE_TRY(const float scale, float_attribute(node, "spatial_scale", 1.0f));
  return RoiAttributes{pooled[0], pooled[1], static_cast<double>(scale)};
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "X", Kinds::floating));
  DRIFTSCOPE_CHECK(expect_kind(context, 1, "rois", Kinds::floating));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "X", 4, 4));
  DRIFTSCOPE_CHECK(expect_rank(context, 1, "rois", 2, 2));
  DRIFTSCOPE_TRY(const RoiAttributes attributes, read(context.node()));
  SymbolicShape y = {Dimension{}, Dimension{}, known_dimension(attributes.height),
                     known_dimension(attributes.width)};
  if (context.input(0).shape) y[1] = (*context.input(0).shape)[1];
  if (const auto& rois = context.input(1).shape) {
    if ((*rois)[1].known() && (*rois)[1].size != 5)
      return bad_input(
          fmt::format("input 1 (rois): expected 5 numbers per region, got shape {}", shape_text(*rois)));
    y[0] = (*rois)[0];
  }
  return std::vector{TensorType{context.input(0).dtype, std::move(y)}};
}

/// One axis of a region, cut into bins.
struct Bins {
  std::int64_t first = 0;
  std::int64_t size = 1;
  std::int64_t count = 1;
  std::int64_t limit = 0;  ///< elements of the plane

  // [begin, end) of a bin, in integers; `slack` ±1: the bounds with a bin size that was rounded up or
  // down.
  [[nodiscard]] std::int64_t begin(std::int64_t bin, std::int64_t slack) const {
    const std::int64_t product = bin * size;
    const bool edge = product % count == 0 && size % count != 0 && product != 0;
    return std::clamp<std::int64_t>(first + product / count - (edge && slack > 0 ? 1 : 0), 0, limit);
  }
  [[nodiscard]] std::int64_t end(std::int64_t bin, std::int64_t slack) const {
    const std::int64_t product = (bin + 1) * size;
    const bool edge = product % count == 0 && size % count != 0;
    return std::clamp<std::int64_t>(
        first + product / count + (product % count != 0 || (edge && slack > 0) ? 1 : 0), 0, limit);
  }
};

Bins bins(double low, double high, double scale, std::int64_t count, std::int64_t limit) {
  const auto whole = [&](double x) {
    const double rounded = std::round(x * scale);
    return std::isnan(rounded) ? std::int64_t{0}
                               : static_cast<std::int64_t>(std::fmin(std::fmax(rounded, -0x1p30), 0x1p30));
  };
  Bins result;
  result.first = whole(low);
  result.size = std::max<std::int64_t>(1, whole(high) - result.first + 1);
  result.count = count;
  result.limit = limit;
  return result;
}

struct MaxRoiPool {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const RoiAttributes how, read(context.node()));
    const Shape& x_shape = context.shape(0);
    const std::span<S> y = context.real_output(0);
    if (y.empty()) return {};
    const std::int64_t channels = x_shape[1], height = x_shape[2], width = x_shape[3];
    const std::span<const S> rois = context.real(1);
    const auto number = [&](std::int64_t roi, std::size_t i) {
      return static_cast<double>(math::value(rois[static_cast<std::size_t>(roi) * 5 + i]));
    };
    for (std::int64_t roi = 0; roi < context.shape(1)[0]; ++roi) {
      const double batch = number(roi, 0);
      if (!(batch >= 0.0 && batch < static_cast<double>(x_shape[0])))
        return bad_input(
            fmt::format("input 1 (rois): region {} names sample {}, expected 0 to {} as X has samples", roi,
                        batch, x_shape[0] - 1));
    }
    const std::int64_t cells = how.height * how.width;
    context.parallel_for(context.shape(1)[0] * channels, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t item = begin; item < end; ++item) {
        const std::int64_t roi = item / channels;
        const Bins rows = bins(number(roi, 2), number(roi, 4), how.scale, how.height, height);
        const Bins columns = bins(number(roi, 1), number(roi, 3), how.scale, how.width, width);
        const S* x =
            context.real(0).data() +
            (static_cast<std::int64_t>(number(roi, 0)) * channels + item % channels) * height * width;
        for (std::int64_t cell = 0; cell < cells; ++cell) {
          const auto largest = [&](std::int64_t slack) {
            return pool(rows, columns, cell / how.width, cell % how.width, slack, width, x);
          };
          S result = largest(0);
          if constexpr (std::is_same_v<S, Bounded>) {
            const double wider = std::fabs(largest(1).value - result.value);
            result.worst += wider;
            result.likely += wider;
            result.systematic += wider;
          }
          y[static_cast<std::size_t>(item * cells + cell)] = result;
        }
      }
    });
    return {};
  }

 private:
  template <class S>
  static S pool(const Bins& rows, const Bins& columns, std::int64_t row, std::int64_t column,
                std::int64_t slack, std::int64_t width, const S* x) {
    S result = math::exact<S>(0.0);
    bool first = true;
    for (std::int64_t i = rows.begin(row, slack); i < rows.end(row, slack); ++i)
      for (std::int64_t j = columns.begin(column, slack); j < columns.end(column, slack); ++j) {
        const S& element = x[i * width + j];
        result = first ? element : math::max(result, element);
        first = false;
      }
    return result;
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<MaxRoiPool>(
      {.op_type = "MaxRoiPool", .inputs = {2, 2}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::max_roi_pool
