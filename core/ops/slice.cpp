// Slice, opset 1 to 21: starts, ends and axes are attributes (opset 1 to 9) or inputs (from 10, with
// steps, which may be negative). Limits are clamped to the tensor.
#include <fmt/format.h>

#include <limits>

#include "core/ops/shared/indices.hpp"
#include "core/ops/shared/shape_rules.hpp"
#include "core/ops/shared/strided_view.hpp"

namespace driftscope::ops::slice {

constexpr IntsSource starts_source{"starts", 1, 10};
constexpr IntsSource ends_source{"ends", 2, 10};
constexpr IntsSource axes_source{"axes", 3, 10};
constexpr IntsSource steps_source{"steps", 4, 10};

// One range per axis of the tensor.
struct Range {
  std::int64_t start = 0;
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
  std::int64_t step = 1;
  [[nodiscard]] bool whole() const {
    return start == 0 && step == 1 && end >= std::numeric_limits<std::int32_t>::max();
  }
};

Result<std::vector<Range>> ranges_of(const Ints& starts, const Ints& ends, const std::optional<Ints>& axes,
                                     const std::optional<Ints>& steps, std::size_t rank) {
  const auto expect_size = [&](std::string_view name, std::size_t size) -> Status {
    if (size == starts.size()) return {};
    return bad_input(fmt::format("{}: expected {} numbers as starts has, got {}", name, starts.size(), size));
  };
  DRIFTSCOPE_CHECK(expect_size("ends", ends.size()));
  if (axes) DRIFTSCOPE_CHECK(expect_size("axes", axes->size()));
  if (steps) DRIFTSCOPE_CHECK(expect_size("steps", steps->size()));
  if (starts.size() > rank)
    return bad_input(fmt::format("starts: {} numbers for a tensor of rank {}", starts.size(), rank));
  std::vector<std::size_t> places;
  if (axes) {
    DRIFTSCOPE_TRY(places, normalize_axes(*axes, rank));
  } else {
    for (std::size_t i = 0; i < starts.size(); ++i) places.push_back(i);
  }
  std::vector<Range> ranges(rank);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t step = steps ? (*steps)[i] : 1;
    if (step == 0) return bad_input(fmt::format("steps: the step of axis {} is 0", places[i]));
    ranges[places[i]] = {starts[i], ends[i], step};
  }
  return ranges;
}

// The part of an axis of this size that a range selects.
struct Taken {
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};

Taken take(const Range& range, std::int64_t size) {
  // A step beyond the axis selects one element; such a large one must not overflow.
  const std::int64_t step = std::clamp<std::int64_t>(range.step, -size - 1, size + 1);
  const auto from_front = [&](std::int64_t at) { return at < 0 ? at + size : at; };
  Taken taken{0, step, 0};
  if (size == 0) return taken;
  if (step > 0) {
    const std::int64_t start = std::clamp<std::int64_t>(from_front(range.start), 0, size);
    const std::int64_t end = std::clamp<std::int64_t>(from_front(range.end), 0, size);
    if (start < end) taken = {start, step, (end - start - 1) / step + 1};
  } else {
    const std::int64_t start = std::clamp<std::int64_t>(from_front(range.start), 0, size - 1);
    const std::int64_t end = std::clamp<std::int64_t>(from_front(range.end), -1, size - 1);
    if (start > end) taken = {start, step, (start - end - 1) / -step + 1};
  }
  return taken;
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "data", Kinds::fixed_size));
  DRIFTSCOPE_TRY(const GivenInts starts, read_ints(context, starts_source));
  DRIFTSCOPE_TRY(const GivenInts ends, read_ints(context, ends_source));
  DRIFTSCOPE_TRY(const GivenInts axes, read_ints(context, axes_source));
  DRIFTSCOPE_TRY(const GivenInts steps, read_ints(context, steps_source));
  if (!starts.given || !ends.given) return bad_input("starts and ends are required");
  TensorType y = context.input(0);
  if (!y.shape) return std::vector{std::move(y)};
  const bool known =
      starts.values && ends.values && (!axes.given || axes.values) && (!steps.given || steps.values);
  if (!known) {
    // The other axes stay as they are, when the axes are known.
    SymbolicShape open = unknown_shape(y.shape->size());
    if (axes.values) {
      DRIFTSCOPE_TRY(const auto places, normalize_axes(*axes.values, open.size()));
      open = *y.shape;
      for (const std::size_t axis : places) open[axis] = Dimension{};
    }
    y.shape = std::move(open);
    return std::vector{std::move(y)};
  }
  DRIFTSCOPE_TRY(const auto ranges,
                 ranges_of(*starts.values, *ends.values, axes.values, steps.values, y.shape->size()));
  for (std::size_t axis = 0; axis < ranges.size(); ++axis) {
    Dimension& size = (*y.shape)[axis];
    if (size.known())
      size = known_dimension(take(ranges[axis], size.size).count);
    else if (!ranges[axis].whole())
      size = Dimension{};
  }
  return std::vector{std::move(y)};
}

struct Slice {
  template <class S>
  static Status run(KernelContext<S>& context) {
    for (std::size_t i = 1; i < 5; ++i) DRIFTSCOPE_CHECK(expect_certain(context, i, "limits"));
    DRIFTSCOPE_TRY(const auto starts, read_ints(context, starts_source));
    DRIFTSCOPE_TRY(const auto ends, read_ints(context, ends_source));
    DRIFTSCOPE_TRY(const auto axes, read_ints(context, axes_source));
    DRIFTSCOPE_TRY(const auto steps, read_ints(context, steps_source));
    const Shape& x = context.shape(0);
    DRIFTSCOPE_TRY(const auto ranges, ranges_of(*starts, *ends, axes, steps, x.size()));
    const Shape strides = dense_strides(x);
    StridedView view;
    for (std::size_t axis = 0; axis < x.size(); ++axis) {
      const Taken taken = take(ranges[axis], x[axis]);
      if (taken.count == 0) return {};
      view.base += taken.first * strides[axis];
      view.add(taken.count, taken.count == 1 ? 0 : taken.step * strides[axis]);
    }
    copy_view(context, 0, std::move(view));
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Slice>(
      {.op_type = "Slice", .inputs = {1, 5}, .outputs = {1, 1}, .infer = infer, .exact_copy = true}));
}

}  // namespace driftscope::ops::slice
