// Compiled for size on the web (cmake/core.cmake).
#include "core/ops/shared/elementwise.hpp"

namespace driftscope {

namespace {

/// The axes of a broadcast, the innermost first, without those of size 1.
struct MergedAxes {
  Shape sizes;
  std::vector<Shape> steps;  ///< of each axis: of each input
};

MergedAxes merged_axes(const Shape& out, std::span<const Shape> inputs) {
  std::vector<Shape> strides;
  for (const Shape& input : inputs) strides.push_back(broadcast_strides(input, out));
  MergedAxes axes;
  for (std::size_t axis = out.size(); axis-- > 0;) {
    if (out[axis] == 1) continue;
    bool goes_on = !axes.sizes.empty();
    Shape steps;
    for (std::size_t k = 0; k < strides.size(); ++k) {
      steps.push_back(strides[k][axis]);
      goes_on = goes_on && steps[k] == axes.steps.back()[k] * axes.sizes.back();
    }
    if (goes_on) {
      axes.sizes.back() *= out[axis];
    } else {
      axes.sizes.push_back(out[axis]);
      axes.steps.push_back(std::move(steps));
    }
  }
  if (axes.sizes.empty()) axes = {{1}, {Shape(inputs.size(), 0)}};
  return axes;
}

/// Walks through the elements of the output, row by row.
class RowWalk {
 public:
  RowWalk(const MergedAxes& axes, std::int64_t begin)
      : axes_(axes), at_(axes.sizes.size(), 0), offsets_(axes.steps[0].size(), 0), begin_(begin) {
    for (std::size_t axis = 0; axis < at_.size(); ++axis) {
      move(axis, begin % axes.sizes[axis]);
      begin /= axes.sizes[axis];
    }
  }

  /// The rest of this row, up to the element `end`.
  [[nodiscard]] BroadcastRow row(std::int64_t end) const {
    return {offsets_, axes_.steps[0], begin_, std::min(axes_.sizes[0] - at_[0], end - begin_)};
  }

  void advance(std::int64_t columns) {
    begin_ += columns;
    move(0, columns);
    for (std::size_t axis = 0; at_[axis] == axes_.sizes[axis] && axis + 1 < at_.size(); ++axis) {
      move(axis, -at_[axis]);
      move(axis + 1, 1);
    }
  }

 private:
  void move(std::size_t axis, std::int64_t by) {
    at_[axis] += by;
    for (std::size_t k = 0; k < offsets_.size(); ++k) offsets_[k] += by * axes_.steps[axis][k];
  }

  const MergedAxes& axes_;
  Shape at_;       // along each axis
  Shape offsets_;  // of each input
  std::int64_t begin_;
};

}  // namespace

Result<std::vector<TensorType>> broadcast_type(const InferContext& context, DType dtype) {
  TensorType y{dtype, SymbolicShape{}};
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (!context.has_input(i)) continue;
    if (!context.input(i).shape) return std::vector{TensorType{dtype, std::nullopt}};
    DRIFTSCOPE_TRY(y.shape, broadcast(*y.shape, *context.input(i).shape));
  }
  return std::vector{std::move(y)};
}

void for_broadcast_rows(const KernelThreads& threads, const Shape& out, std::span<const Shape> inputs,
                        FunctionRef<void(const BroadcastRow&)> body) {
  const MergedAxes axes = merged_axes(out, inputs);
  threads.parallel_for(element_count(out), elementwise_grain, [&](std::int64_t begin, std::int64_t end) {
    RowWalk walk(axes, begin);
    while (begin < end) {
      const BroadcastRow row = walk.row(end);
      body(row);
      begin += row.columns;
      walk.advance(row.columns);
    }
  });
}

}  // namespace driftscope
