// CenterCropPad, opset 18 to 21: crops or zero-pads axes to given sizes, evenly at both ends; of an odd
// difference the smaller half comes first.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>

#include "core/ops/shared/indices.hpp"
#include "core/ops/shared/shape_rules.hpp"
#include "core/ops/shared/strided_view.hpp"

namespace driftscope::ops::center_crop_pad {

Result<std::vector<std::size_t>> read_axes(const Node& node, std::size_t rank) {
  Ints all(rank);
  for (std::size_t i = 0; i < rank; ++i) all[i] = static_cast<std::int64_t>(i);
  DRIFTSCOPE_TRY(const Ints axes, ints_attribute(node, "axes", std::move(all)));
  return normalize_axes(axes, rank);
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "input_data", Kinds::fixed_size));
  DRIFTSCOPE_CHECK(expect_index(context, 1, "shape"));
  DRIFTSCOPE_CHECK(expect_rank(context, 1, "shape", 1, 1));
  TensorType y = context.input(0);
  if (!y.shape) return std::vector{std::move(y)};
  DRIFTSCOPE_TRY(const auto axes, read_axes(context.node(), y.shape->size()));
  std::optional<Ints> sizes;
  if (context.constant(1) != nullptr) {
    DRIFTSCOPE_TRY(sizes, integers_of(*context.constant(1), input_label(1, "shape")));
    if (sizes->size() != axes.size())
      return bad_input(fmt::format("input 1 (shape): expected {} sizes, one for each axis, got {}",
                                   axes.size(), sizes->size()));
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    (*y.shape)[axes[i]] = Dimension{};
    if (!sizes) continue;
    if ((*sizes)[i] < 0)
      return bad_input(fmt::format("input 1 (shape): expected sizes of 0 or more, got {}", (*sizes)[i]));
    (*y.shape)[axes[i]] = known_dimension((*sizes)[i]);
  }
  return std::vector{std::move(y)};
}

struct CenterCropPad {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_CHECK(expect_certain(context, 1, "shape"));
    const Shape& x = context.shape(0);
    const Shape& y = context.output_shape(0);
    if (element_count(x) == 0 || element_count(y) == 0) return {};
    const Shape from = dense_strides(x);
    const Shape to = dense_strides(y);
    // The kept part: read from the middle of X, written to the middle of Y; the rest is 0.
    std::int64_t read = 0;
    std::int64_t write = 0;
    Shape kept;
    for (std::size_t axis = 0; axis < x.size(); ++axis) {
      kept.push_back(std::min(x[axis], y[axis]));
      read += (x[axis] - kept[axis]) / 2 * from[axis];
      write += (y[axis] - kept[axis]) / 2 * to[axis];
    }
    constexpr std::array<std::size_t, 1> inputs = {0};
    move_elements(context, inputs, 0,
                  [&]<class T>(std::span<const std::span<const T>> sources, std::span<T> target) {
                    Shape at(x.size(), 0);
                    std::int64_t source_offset = read;
                    std::int64_t target_offset = write;
                    const std::int64_t width = x.empty() ? 1 : kept.back();
                    const std::size_t outer = x.empty() ? 0 : x.size() - 1;
                    for (std::int64_t row = element_count(kept) / width; row > 0; --row) {
                      std::copy_n(sources[0].data() + source_offset, width, target.data() + target_offset);
                      for (std::size_t axis = outer; axis-- > 0;) {
                        source_offset += from[axis];
                        target_offset += to[axis];
                        if (++at[axis] < kept[axis]) break;
                        source_offset -= from[axis] * kept[axis];
                        target_offset -= to[axis] * kept[axis];
                        at[axis] = 0;
                      }
                    }
                  });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<CenterCropPad>(
      {.op_type = "CenterCropPad", .since = 18, .inputs = {2, 2}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::center_crop_pad
