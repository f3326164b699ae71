// Pad, opset 2 to 21: constant, reflect, edge, wrap (opset 19). Pads are an attribute (opset 2 to 10)
// or an input (from 11), for the axes of the `axes` input (from 18) or for all. Negative pads crop;
// the other modes then see the cropped tensor, as in ONNX Runtime. Reflection repeats back and forth.
#include <fmt/format.h>

#include <array>

#include "core/base/checked.hpp"
#include "core/graph/attributes.hpp"
#include "core/numerics/math.hpp"
#include "core/ops/shared/broadcast.hpp"
#include "core/ops/shared/move.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::ops::pad {

enum class Mode { constant, reflect, edge, wrap };

Result<Mode> read_mode(const Node& node) {
  DRIFTSCOPE_TRY(const std::string text, string_attribute(node, "mode", "constant"));
  if (text == "constant") return Mode::constant;
  if (text == "reflect") return Mode::reflect;
  if (text == "edge") return Mode::edge;
  if (text == "wrap" && node.opset >= 19) return Mode::wrap;
  return bad_input(fmt::format(
      "attribute mode: expected constant, reflect, edge or (from opset 19) wrap, got '{}'", text));
}

// How many elements come before and after, per axis.
struct Pads {
  Ints begin;
  Ints end;
};

Result<Pads> spread(const Ints& pads, const std::optional<Ints>& axes, std::size_t rank) {
  const std::size_t count = axes ? axes->size() : rank;
  if (pads.size() != 2 * count)
    return bad_input(
        fmt::format("pads: expected {} numbers, two per axis, got [{}]", 2 * count, fmt::join(pads, ",")));
  Pads result{Ints(rank, 0), Ints(rank, 0)};
  std::vector<bool> seen(rank, false);
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t axis = i;
    if (axes) {
      auto normal = normalize_axis((*axes)[i], rank);
      if (!normal.ok()) return in_context(std::move(normal).error(), input_label(3, "axes"));
      axis = *normal;
    }
    if (seen[axis]) return bad_input(fmt::format("input 3 (axes): axis {} appears twice", axis));
    seen[axis] = true;
    result.begin[axis] = pads[i];
    result.end[axis] = pads[i + count];
  }
  return result;
}

// Nothing while the pads or the axes are not known. Null tensors stand for absent inputs.
Result<Pads> read_pads(const Node& node, const Tensor* pads, const Tensor* axes, std::size_t rank) {
  if (node.opset < 11) {
    DRIFTSCOPE_TRY(const Ints list, ints_attribute(node, "pads", {}));
    return spread(list, std::nullopt, rank);
  }
  DRIFTSCOPE_TRY(const Ints list, integers_of(*pads, input_label(1, "pads")));
  std::optional<Ints> chosen;
  if (axes != nullptr) {
    DRIFTSCOPE_TRY(chosen, integers_of(*axes, input_label(3, "axes")));
  }
  return spread(list, chosen, rank);
}

// One axis: the part of the input that is kept, and the padding around it.
struct AxisPad {
  std::int64_t first = 0;  // kept: [first, first + kept)
  std::int64_t kept = 0;
  std::int64_t before = 0;
  std::int64_t output = 0;

  // Input coordinate of output coordinate o; −1: the constant.
  [[nodiscard]] std::int64_t source(std::int64_t o, Mode mode) const {
    std::int64_t at = o - before;
    if (at >= 0 && at < kept) return first + at;
    if (mode == Mode::constant) return -1;
    if (mode == Mode::edge) {
      at = at < 0 ? 0 : kept - 1;
    } else {
      const std::int64_t period = mode == Mode::wrap ? kept : std::max<std::int64_t>(1, 2 * (kept - 1));
      at = (at % period + period) % period;
      if (at >= kept) at = period - at;
    }
    return first + at;
  }
};

Result<AxisPad> place(std::size_t axis, std::int64_t size, std::int64_t begin, std::int64_t end, Mode mode) {
  constexpr std::int64_t limit = std::int64_t{1} << 40;
  if (begin < -limit || begin > limit || end < -limit || end > limit)
    return bad_input(fmt::format("pads: {} and {} on axis {} are beyond ±2^40", begin, end, axis));
  AxisPad result;
  const std::int64_t crop_begin = std::max<std::int64_t>(0, -begin);
  const std::int64_t crop_end = std::max<std::int64_t>(0, -end);
  if (crop_begin + crop_end > size)
    return bad_input(
        fmt::format("pads: {} and {} remove more than the {} elements of axis {}", begin, end, size, axis));
  result.first = crop_begin;
  result.kept = size - crop_begin - crop_end;
  result.before = std::max<std::int64_t>(0, begin);
  const auto output = checked_add(result.kept, result.before + std::max<std::int64_t>(0, end));
  if (!output) return bad_input(fmt::format("pads: the size of axis {} overflows", axis));
  result.output = *output;
  if (mode != Mode::constant && result.kept == 0 && result.output > 0)
    return bad_input(fmt::format("pads: axis {} has no elements to repeat (size {}, pads {} and {})", axis,
                                 size, begin, end));
  return result;
}

Status check_value(const InferContext& context) {
  if (!context.has_input(2)) return {};
  constexpr std::array<std::string_view, 3> names = {"data", "pads", "constant_value"};
  const DType expected = context.input(0).dtype;
  const DType got = context.input(2).dtype;
  if (expected != DType::undefined && got != DType::undefined && expected != got)
    return bad_input(fmt::format("{}: expected {} as {} has, got {}", input_label(2, names[2]),
                                 dtype_name(expected), input_label(0, names[0]), dtype_name(got)));
  if (context.input(2).shape) {
    DRIFTSCOPE_TRY(const Dimension count, multiply(*context.input(2).shape));
    if (count.known() && count.size != 1)
      return bad_input(fmt::format("{}: expected a scalar, got shape {}", input_label(2, names[2]),
                                   shape_text(*context.input(2).shape)));
  }
  return {};
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "data", Kinds::fixed_size));
  DRIFTSCOPE_TRY(const Mode mode, read_mode(context.node()));
  const bool as_inputs = context.opset() >= 11;
  if (as_inputs != context.has_input(1))
    return bad_input(as_inputs ? "input 1 (pads): required from opset 11, but absent"
                               : "input 1 (pads): pads are an attribute before opset 11");
  DRIFTSCOPE_CHECK(check_value(context));
  TensorType y = context.input(0);
  if (!y.shape) return std::vector{std::move(y)};
  const Tensor* pads = as_inputs ? context.constant(1) : nullptr;
  const Tensor* axes = context.has_input(3) ? context.constant(3) : nullptr;
  if ((as_inputs && pads == nullptr) || (context.has_input(3) && axes == nullptr)) {
    y.shape = unknown_shape(y.shape->size());
    return std::vector{std::move(y)};
  }
  DRIFTSCOPE_TRY(const Pads list, read_pads(context.node(), pads, axes, y.shape->size()));
  for (std::size_t axis = 0; axis < y.shape->size(); ++axis) {
    Dimension& size = (*y.shape)[axis];
    if (!size.known()) {
      if (list.begin[axis] != 0 || list.end[axis] != 0) size = Dimension{};
      continue;
    }
    DRIFTSCOPE_TRY(const AxisPad placed, place(axis, size.size, list.begin[axis], list.end[axis], mode));
    size = known_dimension(placed.output);
  }
  return std::vector{std::move(y)};
}

template <class T>
void pad(std::span<const T> x, const Shape& x_shape, std::span<T> y, const Shape& y_shape,
         std::span<const AxisPad> axes, Mode mode, const T& fill) {
  if (y_shape.empty()) {
    y[0] = x[0];
    return;
  }
  const Shape strides = broadcast_strides(x_shape, x_shape);
  const BroadcastRows extent(y_shape);
  for (std::int64_t row = 0; row < extent.rows; ++row) {
    std::int64_t base = 0;
    std::int64_t rest = row;
    for (std::size_t axis = y_shape.size() - 1; axis-- > 0;) {
      const std::int64_t at = axes[axis].source(rest % y_shape[axis], mode);
      rest /= y_shape[axis];
      base = at < 0 || base < 0 ? -1 : base + at * strides[axis];
    }
    T* target = y.data() + row * extent.columns;
    for (std::int64_t i = 0; i < extent.columns; ++i) {
      const std::int64_t at = base < 0 ? -1 : axes.back().source(i, mode);
      target[i] = at < 0 ? fill : x[static_cast<std::size_t>(base + at)];
    }
  }
}

struct Pad {
  template <class S>
  static Status run(KernelContext<S>& context) {
    const Shape& x_shape = context.shape(0);
    const Shape& y_shape = context.output_shape(0);
    DRIFTSCOPE_TRY(const Mode mode, read_mode(context.node()));
    DRIFTSCOPE_TRY(const Pads list,
                   read_pads(context.node(), context.has_input(1) ? &context.tensor(1) : nullptr,
                             context.has_input(3) ? &context.tensor(3) : nullptr, x_shape.size()));
    std::vector<AxisPad> axes;
    for (std::size_t axis = 0; axis < x_shape.size(); ++axis) {
      DRIFTSCOPE_TRY(const AxisPad placed,
                     place(axis, x_shape[axis], list.begin[axis], list.end[axis], mode));
      axes.push_back(placed);
    }
    if (element_count(y_shape) == 0) return {};
    float value = 0.0f;
    if (context.node().opset < 11) {
      DRIFTSCOPE_TRY(value, float_attribute(context.node(), "value", 0.0f));
    }
    std::vector<std::size_t> inputs = {0};
    if (context.has_input(2)) inputs.push_back(2);
    move_elements(context, inputs, 0,
                  [&]<class T>(std::span<const std::span<const T>> sources, std::span<T> target) {
                    T fill{};
                    if constexpr (std::is_same_v<T, S>) fill = math::exact<S>(static_cast<double>(value));
                    if (sources.size() > 1) fill = sources[1][0];
                    pad<T>(sources[0], x_shape, target, y_shape, axes, mode, fill);
                  });
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Pad>({.op_type = "Pad",
                               .since = 2,
                               .inputs = {1, 4},
                               .outputs = {1, 1},
                               .infer = infer,
                               .exact_copy = true}));
}

}  // namespace driftscope::ops::pad
