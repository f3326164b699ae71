// Reductions over axes that lie together in memory, and GlobalAveragePool.
#include <fmt/format.h>

#include <algorithm>

#include "core/engines/webgl/lowering.hpp"
#include "core/ops/shared/lanes.hpp"
#include "core/ops/shared/reduction.hpp"

namespace driftscope::webgl::reduce {

// As shaders/webgl/reduce.glsl has it: `next` of part and v, `join` of part and the v of another part, `last`
// of part; {} is the size of a lane.
struct Kind {
  const char* first;
  const char* next;
  const char* join;
  const char* last;
};
constexpr Kind sum = {"0.0", "part + v", "part + v", "part"};
constexpr Kind mean = {"0.0", "part + v", "part + v", "part / {}.0"};
constexpr Kind largest = {"-3.4028234663852886e38", "max(part, v)", "max(part, v)", "part"};
constexpr Kind smallest = {"-3.4028234663852886e38", "max(part, -v)", "max(part, v)", "-part"};
constexpr Kind product = {"1.0", "part * v", "part * v", "part"};
constexpr Kind l1 = {"0.0", "part + abs(v)", "part + v", "part"};
constexpr Kind l2 = {"0.0", "part + v * v", "part + v", "sqrt(part)"};
constexpr Kind squares = {"0.0", "part + v * v", "part + v", "part"};

constexpr std::int64_t longest_part = 1024;

struct StageText {
  std::string first;
  std::string next;
  std::string last;
};

// `count` parts of each lane, one behind the other in its place.
Status emit_stage(Lowering& lowering, StageText text, const Lanes& lanes, std::int64_t count, BufferId in,
                  BufferId out) {
  return lowering.emit_draw("webgl/reduce.glsl",
                            {{"FIRST", std::move(text.first)},
                             {"NEXT", std::move(text.next)},
                             {"LAST", std::move(text.last)},
                             {"SIZE", lanes.size},
                             {"INNER", lanes.inner},
                             {"PARTS", count},
                             {"PART", ceil_div(lanes.size, count)},
                             {"ELEMENTS", lanes.inner % 4 == 0 ? 0 : 1},
                             {"COUNT", lanes.count() * count}},
                            {in}, out);
}

Result<bool> place(Lowering& lowering, const Node& node, const Kind& kind, const std::vector<bool>& reduced) {
  const ValueId x = node.inputs[0];
  const ValueId y = node.outputs[0];
  const Shape shape = lowering.shape(x);
  const Shape y_shape = lowering.shape(y);
  Layout layout = lowering.layout(x);
  // What remains must be in ONNX's order again, unless the axes stay as ones.
  const bool keeps = shape.size() == y_shape.size();
  const bool images = shape.size() > 2 && layout == channels_last(shape);
  const bool one_axis_left = std::count(reduced.begin(), reduced.end(), false) <= 2 && !reduced[0];
  if (!images || (!keeps && !one_axis_left)) layout = {};
  Lanes lanes;
  int runs = 0;
  bool in_run = false;
  for (const std::size_t axis : axes_in_memory(shape, layout)) {
    if (shape[axis] == 1) continue;
    if (reduced[axis] && !in_run) ++runs;
    in_run = reduced[axis];
    (reduced[axis] ? lanes.size : runs == 0 ? lanes.outer : lanes.inner) *= shape[axis];
  }
  if (runs > 1) return false;
  const Layout made = keeps && !layout.plain() && y_shape.size() > 2 ? channels_last(y_shape) : Layout{};
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(x, layout));
  const BufferId out = lowering.write(y, made);
  BufferId parts = in;
  std::int64_t size = lanes.size;
  const char* next = kind.next;
  // Long lanes in stages, so that no fragment loops for long and many work at once.
  while (size > longest_part) {
    const std::int64_t count = ceil_div(size, longest_part);
    const BufferId made_parts = lowering.scratch_texels(ceil_div(lanes.outer * count * lanes.inner, 4));
    DRIFTSCOPE_CHECK(emit_stage(lowering, {kind.first, next, "part"}, {lanes.outer, size, lanes.inner}, count,
                                parts, made_parts));
    parts = made_parts;
    size = count;
    next = kind.join;
  }
  const std::string last = fmt::format(fmt::runtime(kind.last), lanes.size);
  DRIFTSCOPE_CHECK(
      emit_stage(lowering, {kind.first, next, last}, {lanes.outer, size, lanes.inner}, 1, parts, out));
  return true;
}

Result<bool> lower_global_average(Lowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  if (!lowering.is_float(x) || !lowering.is_float(node.outputs[0])) return false;
  std::vector<bool> reduced(lowering.shape(x).size(), true);
  if (reduced.size() < 3) return false;
  reduced[0] = reduced[1] = false;
  return place(lowering, node, mean, reduced);
}

// `axes_input`: the first opset in which the axes are an input.
template <const Kind& kind, std::int64_t axes_input>
Result<bool> lower(Lowering& lowering, const Node& node) {
  const ValueId x = node.inputs[0];
  if (!lowering.is_float(x) || !lowering.is_float(node.outputs[0])) return false;
  const bool given = lowering.has_input(node, 1);
  const Tensor* input = given ? lowering.constant(node.inputs[1]) : nullptr;
  const std::size_t rank = lowering.shape(x).size();
  const auto axes = read_axes(node, input, given, node.opset >= axes_input, rank);
  const auto nothing = flag_attribute(node, "noop_with_empty_axes", false);
  if (!axes.ok() || !*axes || !nothing.ok() || (*nothing && (*axes)->empty())) return false;
  std::vector<bool> reduced(rank, (*axes)->empty());
  for (const std::size_t axis : **axes) reduced[axis] = true;
  return place(lowering, node, kind, reduced);
}

void add_to(WebGlOperatorTable& table) {
  table.add("GlobalAveragePool", lower_global_average);
  table.add("ReduceMean", lower<mean, 18>);
  table.add("ReduceSum", lower<sum, 13>);
  table.add("ReduceMax", lower<largest, 18>);
  table.add("ReduceMin", lower<smallest, 18>);
  table.add("ReduceProd", lower<product, 18>);
  table.add("ReduceL1", lower<l1, 18>);
  table.add("ReduceL2", lower<l2, 18>);
  table.add("ReduceSumSquare", lower<squares, 18>);
}

}  // namespace driftscope::webgl::reduce
