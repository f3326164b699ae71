// Operators that choose elements: slices, gathers, reversals, scatters.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/base/text.hpp"
#include "core/convert/tf/to_onnx/maker.hpp"

namespace driftscope::tf::to_onnx_operators::selection {
namespace {

using namespace to_onnx_parts;

constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max();

struct Range {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t step;
};

Names slice_inputs(Maker& maker, const std::string& x, const std::vector<std::int64_t>& axes,
                   const std::vector<Range>& ranges) {
  Numbers begins, ends, steps;
  for (const Range& range : ranges) {
    begins.push_back(range.begin);
    ends.push_back(range.end);
    steps.push_back(range.step);
  }
  return {x, maker.integers(begins, "begin"), maker.integers(ends, "end"), maker.integers(axes, "axes"),
          maker.integers(steps, "steps")};
}

bool are_known(const Maker& maker, const Node& node, std::initializer_list<std::size_t> inputs) {
  return std::ranges::all_of(inputs, [&](std::size_t i) {
    return i >= node.inputs.size() || maker.constant(node.inputs[i]) != nullptr;
  });
}

/// Begin or size is computed, as in models with open sizes.
Status computed_slice(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  const std::string begin = maker.as_int64(node.inputs[1]);
  const std::string size = maker.as_int64(node.inputs[2]);
  const std::string end = maker.make("end", "Add", {begin, size});
  const std::string zero = maker.integers({0}, "zero");
  const std::string rest = maker.make("is_rest", "Less", {size, zero});
  maker.give("Slice", {x, begin, maker.make("ends", "Where", {rest, maker.integers({far}, "far"), end})});
  return {};
}

/// [value, begin, size]; a size of −1: all that is left.
Status slice(Maker& maker, const Node& node) {
  if (node.inputs.size() == 3 && !are_known(maker, node, {1, 2})) return computed_slice(maker, node);
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const Numbers begin, maker.known_integers(node, 1));
  DRIFTSCOPE_TRY(const Numbers size, maker.known_integers(node, 2));
  if (begin.size() != size.size()) return bad_input("begin and size must have equal lengths");
  std::vector<Range> ranges;
  Numbers axes;
  for (std::size_t i = 0; i < begin.size(); ++i) {
    if (begin[i] < 0 || size[i] < -1 || begin[i] > far - std::max<std::int64_t>(size[i], 0))
      return bad_input(fmt::format("axis {}: begin {} and size {}", i, begin[i], size[i]));
    ranges.push_back({begin[i], size[i] == -1 ? far : begin[i] + size[i], 1});
    axes.push_back(static_cast<std::int64_t>(i));
  }
  maker.give("Slice", slice_inputs(maker, x, axes, ranges));
  return {};
}

/// Begin or end is computed, as in models with open sizes. Where a mask has a bit, a constant replaces them.
Status computed_strided_slice(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const Numbers step, maker.known_integers(node, 3));
  if (step.size() > max_rank) return bad_input("it has more positions than a value has axes");
  for (const char* name : {"ellipsis_mask", "new_axis_mask"})
    if (attribute<std::int64_t>(node, name, 0) != 0)
      return unsupported(fmt::format("{} where begin or end is computed", name));
  Numbers dropped, axes, first, last, replaces_first, replaces_last;
  for (std::size_t i = 0; i < step.size(); ++i) {
    const auto bit = [&](std::string_view name) { return attribute<std::int64_t>(node, name, 0) >> i & 1; };
    if (step[i] == 0) return bad_input(fmt::format("position {}: a stride of 0", i));
    axes.push_back(static_cast<std::int64_t>(i));
    if (bit("shrink_axis_mask") != 0) dropped.push_back(axes.back());
    replaces_first.push_back(bit("shrink_axis_mask") != 0 ? 0 : bit("begin_mask"));
    replaces_last.push_back(bit("shrink_axis_mask") != 0 ? 0 : bit("end_mask"));
    first.push_back(step[i] > 0 ? 0 : far);
    last.push_back(step[i] > 0 ? far : std::numeric_limits<std::int64_t>::min());
  }
  const auto chosen = [&](std::string_view suffix, const std::string& given, const Numbers& replaces,
                          const Numbers& by) {
    const std::string truth =
        maker.make(fmt::format("is_{}", suffix), "Cast", {maker.integers(replaces, "mask")},
                   {of("to", static_cast<std::int64_t>(DType::boolean))});
    return maker.make(suffix, "Where", {truth, maker.integers(by, "outermost"), given});
  };
  const std::string begin = chosen("first", maker.as_int64(node.inputs[1]), replaces_first, first);
  std::string end = chosen("last", maker.as_int64(node.inputs[2]), replaces_last, last);
  if (!dropped.empty()) {  // the one element at begin, which −1 has behind it none
    Numbers drops(step.size(), 0);
    for (const std::int64_t axis : dropped) drops[static_cast<std::size_t>(axis)] = 1;
    const std::string next = maker.make("next", "Add", {begin, maker.integers({1}, "one")});
    const std::string is_last = maker.make("is_at_end", "Equal", {next, maker.integers({0}, "zero")});
    const std::string behind = maker.make("behind", "Where", {is_last, maker.integers({far}, "far"), next});
    const std::string truth = maker.make("drops", "Cast", {maker.integers(drops, "mask")},
                                         {of("to", static_cast<std::int64_t>(DType::boolean))});
    end = maker.make("ends", "Where", {truth, behind, end});
  }
  const Names inputs = {x, begin, end, maker.integers(axes, "axes"), maker.integers(step, "steps")};
  if (dropped.empty()) {
    maker.give("Slice", inputs);
    return {};
  }
  maker.give("Squeeze", {maker.make("sliced", "Slice", inputs), maker.integers(dropped, "dropped_axes")});
  return {};
}

/// The masks have a bit for each position of begin: ignored begin or end, a new axis, an axis that is
/// dropped.
Status strided_slice(Maker& maker, const Node& node) {
  if (node.inputs.size() == 4 && !are_known(maker, node, {1, 2})) return computed_strided_slice(maker, node);
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const Numbers begin, maker.known_integers(node, 1));
  DRIFTSCOPE_TRY(const Numbers end, maker.known_integers(node, 2));
  DRIFTSCOPE_TRY(const Numbers step, maker.known_integers(node, 3));
  const auto bit = [&](std::string_view name, std::size_t i) {
    return (attribute<std::int64_t>(node, name, 0) >> i & 1) != 0;
  };
  if (begin.size() != end.size() || begin.size() != step.size() || begin.size() > max_rank)
    return bad_input("begin, end and strides must have equal lengths");
  std::vector<Range> ranges;
  Numbers axes, dropped, added;
  std::int64_t axis = 0;    // of the input
  std::int64_t result = 0;  // axis after new ones were added
  for (std::size_t i = 0; i < begin.size(); ++i) {
    if (bit("ellipsis_mask", i)) {
      if (i + 1 == begin.size()) break;
      const auto shape = maker.shape(node.inputs[0]);
      if (!shape)
        return unsupported("an ellipsis before other positions, of a value whose rank is not known");
      std::int64_t later = 0;
      for (std::size_t j = i + 1; j < begin.size(); ++j) later += bit("new_axis_mask", j) ? 0 : 1;
      const std::int64_t covered = static_cast<std::int64_t>(shape->size()) - axis - later;
      if (covered < 0) return bad_input("it has more positions than the value has axes");
      axis += covered;
      result += covered;
      continue;
    }
    if (bit("new_axis_mask", i)) {
      added.push_back(result++);
      continue;
    }
    if (step[i] == 0) return bad_input(fmt::format("position {}: a stride of 0", i));
    Range range{begin[i], end[i], step[i]};
    if (bit("shrink_axis_mask", i)) {
      range = {begin[i], begin[i] == -1 ? far : begin[i] + 1, 1};
      dropped.push_back(result);
    } else {
      if (bit("begin_mask", i)) range.begin = step[i] > 0 ? 0 : far;
      if (bit("end_mask", i)) range.end = step[i] > 0 ? far : std::numeric_limits<std::int64_t>::min();
    }
    ranges.push_back(range);
    axes.push_back(axis++);
    ++result;
  }
  std::string value = x;
  if (added.empty() && dropped.empty()) {
    maker.give("Slice", slice_inputs(maker, value, axes, ranges));
    return {};
  }
  if (!axes.empty()) value = maker.make("sliced", "Slice", slice_inputs(maker, value, axes, ranges));
  if (!added.empty()) {
    const Names inputs = {value, maker.integers(added, "new_axes")};
    if (dropped.empty()) {
      maker.give("Unsqueeze", inputs);
      return {};
    }
    value = maker.make("with_new_axes", "Unsqueeze", inputs);
  }
  maker.give("Squeeze", {value, maker.integers(dropped, "dropped_axes")});
  return {};
}

/// [value, indices, axis].
Status gather(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const std::string indices, maker.input(node, 1));
  if (attribute<std::int64_t>(node, "batch_dims", 0) != 0) return unsupported("batch_dims are not supported");
  Numbers axis = {attribute<std::int64_t>(node, "axis", 0)};
  if (node.inputs.size() > 2) {
    DRIFTSCOPE_TRY(axis, maker.known_integers(node, 2));
  }
  if (axis.size() != 1) return bad_input("the axis must be one number");
  maker.give("Gather", {x, indices}, {of("axis", axis[0])});
  return {};
}

Status gather_nd(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  if (node.inputs.size() < 2) return bad_input("it has no indices");
  maker.give("GatherND", {x, maker.as_int64(node.inputs[1])});
  return {};
}

/// [indices, updates, shape]: added up into zeros.
Status scatter_nd(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string updates, maker.input(node, 1));
  if (node.inputs.size() < 3) return bad_input("it has no shape");
  DRIFTSCOPE_TRY(const std::string zero, maker.scalar(0.0, maker.dtype(node.inputs[1])));
  const std::string zeros = maker.make("zeros", "Expand", {zero, maker.as_int64(node.inputs[2])});
  maker.give("ScatterND", {zeros, maker.as_int64(node.inputs[0]), updates},
             {of("reduction", std::string("add"))});
  return {};
}

Status scatter_update(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const std::string updates, maker.input(node, 2));
  maker.give("ScatterND", {x, maker.as_int64(node.inputs[1]), updates});
  return {};
}

Status reverse(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const Numbers axes, maker.known_integers(node, 1));
  const std::vector<Range> ranges(axes.size(), {far, std::numeric_limits<std::int64_t>::min(), -1});
  maker.give("Slice", slice_inputs(maker, x, axes, ranges));
  return {};
}

/// [indices, depth, on, off]. An index below 0 is off everywhere, while ONNX counts from the end.
Status one_hot(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string indices, maker.input(node, 0));
  DRIFTSCOPE_TRY(const Numbers depth, maker.known_integers(node, 1));
  DRIFTSCOPE_TRY(const std::string on, maker.input(node, 2));
  DRIFTSCOPE_TRY(const std::string off, maker.input(node, 3));
  const std::string one = maker.integers({1}, "one");
  const std::string values = maker.make(
      "values", "Concat", {maker.make("off", "Reshape", {off, one}), maker.make("on", "Reshape", {on, one})},
      {of("axis", std::int64_t{0})});
  const std::string wide = maker.as_int64(indices);
  if (depth.size() != 1) return bad_input("input 1 (depth): expected one number");
  // Scalars, which give a scalar index no axis.
  DRIFTSCOPE_TRY(const std::string zero, maker.scalar(0.0, DType::int64, "zero"));
  DRIFTSCOPE_TRY(const std::string outside,
                 maker.scalar(static_cast<double>(depth[0]), DType::int64, "outside"));
  const std::string below = maker.make("is_below", "Less", {wide, zero});
  const std::string counted = maker.make("from_start", "Where", {below, outside, wide});
  maker.give("OneHot", {counted, maker.integers(depth, "depth"), values},
             {of("axis", attribute<std::int64_t>(node, "axis", -1))});
  return {};
}

}  // namespace

void add_to(to_onnx_parts::RuleTable& table) {
  table.add("Slice", slice);
  table.add("StridedSlice", strided_slice);
  table.add("GatherV2", gather);
  table.add("Gather", gather);
  table.add("GatherNd", gather_nd);
  table.add("ScatterNd", scatter_nd);
  table.add("TensorScatterUpdate", scatter_update);
  table.add("ReverseV2", reverse);
  table.add("OneHot", one_hot);
}

}  // namespace driftscope::tf::to_onnx_operators::selection
