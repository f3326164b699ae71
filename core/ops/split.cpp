// Split, opset 2 to 21: along one axis, into sizes given as an attribute (opset 2 to 12) or an input
// (from 13), else into equal parts, of which the last may be smaller from opset 18 (num_outputs).
#include <fmt/format.h>

#include "core/base/checked.hpp"
#include "core/ops/shared/indices.hpp"
#include "core/ops/shared/shape_rules.hpp"
#include "core/ops/shared/strided_view.hpp"

namespace driftscope::ops::split {

constexpr IntsSource split_source{"split", 1, 13};

// The sizes of the parts of an axis.
Result<Ints> parts_of(const Node& node, const std::optional<Ints>& given, std::int64_t size) {
  const auto count = static_cast<std::int64_t>(node.outputs.size());
  if (given) {
    if (given->size() != node.outputs.size())
      return bad_input(fmt::format("split: {} sizes for {} outputs", given->size(), count));
    std::int64_t sum = 0;
    for (const std::int64_t part : *given) {
      const auto next = part < 0 ? std::nullopt : checked_add(sum, part);
      if (!next) return bad_input(fmt::format("split: [{}] holds no valid sizes", fmt::join(*given, ",")));
      sum = *next;
    }
    if (sum != size)
      return bad_input(
          fmt::format("split: [{}] adds up to {}, the axis has {}", fmt::join(*given, ","), sum, size));
    return *given;
  }
  if (node.opset < 18 && size % count != 0)
    return bad_input(fmt::format("an axis of {} cannot be split into {} equal parts", size, count));
  const std::int64_t part = size / count + (size % count == 0 ? 0 : 1);
  Ints parts;
  for (std::int64_t left = size; static_cast<std::int64_t>(parts.size()) < count; left -= parts.back())
    parts.push_back(std::min(part, left));
  return parts;
}

Status check_num_outputs(const Node& node) {
  if (node.opset < 18 || node.attribute("num_outputs") == nullptr) return {};
  DRIFTSCOPE_TRY(const std::int64_t wanted, int_attribute(node, "num_outputs", 0));
  if (wanted == static_cast<std::int64_t>(node.outputs.size())) return {};
  return bad_input(
      fmt::format("attribute num_outputs: {}, but the node has {} outputs", wanted, node.outputs.size()));
}

Result<std::vector<TensorType>> infer(const InferContext& context) {
  DRIFTSCOPE_CHECK(expect_kind(context, 0, "input", Kinds::fixed_size));
  DRIFTSCOPE_CHECK(check_num_outputs(context.node()));
  DRIFTSCOPE_TRY(const GivenInts split, read_ints(context, split_source));
  DRIFTSCOPE_TRY(const std::int64_t given_axis, int_attribute(context.node(), "axis", 0));
  std::vector<TensorType> parts(context.node().outputs.size(), context.input(0));
  if (!context.input(0).shape) return parts;
  const SymbolicShape& x = *context.input(0).shape;
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given_axis, x.size()));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Dimension& size = (*parts[i].shape)[axis];
    size = Dimension{};
    if (split.values && i < split.values->size() && (*split.values)[i] >= 0)
      size = known_dimension((*split.values)[i]);
  }
  if ((split.given && !split.values) || !x[axis].known()) return parts;
  DRIFTSCOPE_TRY(const Ints sizes, parts_of(context.node(), split.values, x[axis].size));
  for (std::size_t i = 0; i < parts.size(); ++i) (*parts[i].shape)[axis] = known_dimension(sizes[i]);
  return parts;
}

struct Split {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_CHECK(expect_certain(context, 1, "split"));
    const Shape& x = context.shape(0);
    DRIFTSCOPE_TRY(const std::int64_t given_axis, int_attribute(context.node(), "axis", 0));
    DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given_axis, x.size()));
    DRIFTSCOPE_TRY(const auto split, read_ints(context, split_source));
    DRIFTSCOPE_TRY(const Ints sizes, parts_of(context.node(), split, x[axis]));
    const Shape strides = dense_strides(x);
    std::int64_t first = 0;
    for (std::size_t o = 0; o < sizes.size(); ++o) {
      StridedView view{first * strides[axis], x, strides};
      view.extent[axis] = sizes[o];
      if (context.wants_output(o)) copy_view(context, 0, std::move(view), o);
      first += sizes[o];
    }
    return {};
  }
};

void add_to(OperatorTable& table) {
  table.add(with_kernels<Split>({.op_type = "Split",
                                 .since = 2,
                                 .inputs = {1, 2},
                                 .outputs = {1, variadic},
                                 .infer = infer,
                                 .exact_copy = true}));
}

}  // namespace driftscope::ops::split
