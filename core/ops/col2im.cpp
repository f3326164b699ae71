// Col2Im, opset 18 to 21: puts blocks (columns of the input) back to where they were taken from in the
// image, adding where they overlap. Any number of spatial axes. Numbers that fall into the padding
// are left out.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include "core/base/checked.hpp"
#include "core/eval/integers.hpp"
#include "core/numerics/sum.hpp"
#include "core/ops/shared/indices.hpp"
#include "core/ops/shared/shape_rules.hpp"
#include "core/ops/shared/window.hpp"

namespace driftscope::ops::col2im {

Result<std::vector<WindowAxis>> place(const Node& node, const Ints& image, const Ints& block) {
  if (image.empty() || image.size() != block.size())
    return bad_input(
        fmt::format("image_shape and block_shape: expected equally many sizes, got [{}] "
                    "and [{}]",
                    fmt::join(image, ","), fmt::join(block, ",")));
  for (const Ints* list : {&image, &block})
    for (const std::int64_t size : *list)
      if (size < 1 || size > (std::int64_t{1} << 40))
        return bad_input(fmt::format("image_shape and block_shape: a size is {}", size));
  DRIFTSCOPE_TRY(const WindowAttributes attributes, read_window(node, block));
  return place_windows(attributes, image);
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "input", Kinds::numeric));
  DRIFTSCOPE_CHECK(expect_rank(context, 0, "input", 3, 3));
  DRIFTSCOPE_CHECK(expect_index(context, 1, "image_shape"));
  DRIFTSCOPE_CHECK(expect_index(context, 2, "block_shape"));
  TensorType y{context.input(0).dtype, std::nullopt};
  if (context.constant(1) == nullptr || context.constant(2) == nullptr) return std::vector{std::move(y)};
  DRIFTSCOPE_TRY(const Ints image, integers_of(*context.constant(1), input_label(1, "image_shape")));
  DRIFTSCOPE_TRY(const Ints block, integers_of(*context.constant(2), input_label(2, "block_shape")));
  DRIFTSCOPE_TRY(const auto axes, place(context.node(), image, block));
  const auto taps = checked_product(block);
  std::vector<std::int64_t> counts;
  for (const WindowAxis& axis : axes) counts.push_back(axis.output);
  const auto columns = checked_product(counts);
  if (!taps || !columns) return limit_error("block_shape: more elements than 64 bits can count");
  y.shape = unknown_shape(2);
  if (const auto& x = context.input(0).shape) {
    y.shape->front() = (*x)[0];
    if ((*x)[1].known()) {
      if ((*x)[1].size % *taps != 0)
        return bad_input(
            fmt::format("input 0 (input): axis 1 has the size {}, not a multiple of the {} "
                        "elements of a block",
                        (*x)[1].size, *taps));
      (*y.shape)[1] = known_dimension((*x)[1].size / *taps);
    }
    if ((*x)[2].known() && (*x)[2].size != *columns)
      return bad_input(
          fmt::format("input 0 (input): {} blocks on axis 2, image_shape and block_shape "
                      "make {}",
                      (*x)[2].size, *columns));
  }
  for (const std::int64_t size : image) y.shape->push_back(known_dimension(size));
  return std::vector{std::move(y)};
}

// Integers wrap around.
template <class T>
struct WrappingSum {
  std::uint64_t sum = 0;
  void add(T x) { sum += widen_integer(x); }
  [[nodiscard]] T result() const { return cut_integer<T>(sum); }
};

// One plane of the image from its blocks: x[tap][window], taps and windows in row-major order.
template <class Accumulator, class T>
void lay(std::span<const WindowAxis> axes, const T* x, std::span<T> plane) {
  std::vector<Accumulator> sums(plane.size());
  Ints tap(axes.size(), 0);
  const auto advance = [&](Ints& at, auto limit) {
    for (std::size_t d = axes.size(); d-- > 0;) {
      if (++at[d] < limit(axes[d])) return true;
      at[d] = 0;
    }
    return false;
  };
  do {
    Ints window(axes.size(), 0);
    do {
      const T value = *x++;
      std::int64_t offset = 0;
      bool inside = true;
      for (std::size_t d = 0; d < axes.size(); ++d) {
        const std::int64_t at = axes[d].at(window[d], tap[d]);
        inside = inside && at >= 0 && at < axes[d].input;
        offset = inside ? offset * axes[d].input + at : 0;
      }
      if (inside) sums[static_cast<std::size_t>(offset)].add(value);
    } while (advance(window, [](const WindowAxis& axis) { return axis.output; }));
  } while (advance(tap, [](const WindowAxis& axis) { return axis.kernel; }));
  for (std::size_t i = 0; i < plane.size(); ++i) plane[i] = sums[i].result();
}

struct Col2Im {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_CHECK(expect_certain(context, 1, "image_shape"));
    DRIFTSCOPE_CHECK(expect_certain(context, 2, "block_shape"));
    const Shape& y = context.output_shape(0);
    DRIFTSCOPE_TRY(const auto axes,
                   place(context.node(), indices_of(context.tensor(1)), indices_of(context.tensor(2))));
    if (element_count(y) == 0) return {};
    const std::int64_t planes = y[0] * y[1];
    const std::int64_t plane = element_count(y) / planes;
    const std::int64_t blocks = element_count(context.shape(0)) / planes;
    const auto run_with = [&]<class Accumulator, class T>(std::span<const T> x, std::span<T> out) {
      context.parallel_for(planes, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t p = begin; p < end; ++p)
          lay<Accumulator>(axes, x.data() + p * blocks,
                           out.subspan(static_cast<std::size_t>(p * plane), static_cast<std::size_t>(plane)));
      });
    };
    if (is_floating(context.dtype(0))) {
      run_with.template operator()<Sum<S>, S>(context.real(0), context.real_output(0));
      return {};
    }
    context.with_integer(context.dtype(0), [&]<class T>() {
      run_with.template operator()<WrappingSum<T>, T>(context.tensor(0).template values<T>(),
                                                      context.tensor_output(0).template mutable_values<T>());
    });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Col2Im>(
      {.op_type = "Col2Im", .since = 18, .inputs = {3, 3}, .outputs = {1, 1}, .infer = infer}));
}

}  // namespace driftscope::ops::col2im
