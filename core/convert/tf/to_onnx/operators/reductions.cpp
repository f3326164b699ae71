// Reductions, the largest element's place, the largest elements, cumulative sums.
#include <fmt/format.h>

#include "core/convert/tf/to_onnx/maker.hpp"

namespace driftscope::tf::to_onnx_operators::reductions {
namespace {

using namespace to_onnx_parts;

Status reduce(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(std::string x, node.op == "Mean" ? maker.real_input(node, 0) : maker.input(node, 0));
  DRIFTSCOPE_TRY(const Numbers axes, maker.known_integers(node, 1));
  const bool logical = node.op == "All" || node.op == "Any";
  const std::string op = fmt::format("Reduce{}", node.op == "All"   ? "Min"
                                                 : node.op == "Any" ? "Max"
                                                                    : node.op);
  Names inputs = {x, maker.integers(axes, "axes")};
  OnnxAttributes attributes = {
      of("keepdims", static_cast<std::int64_t>(
                         attribute<bool>(node, "keep_dims", attribute<bool>(node, "keepdims", false))))};
  if (axes.empty()) attributes.push_back(of("noop_with_empty_axes", std::int64_t{1}));
  if (!logical) {
    maker.give(op, std::move(inputs), std::move(attributes));
    return {};
  }
  inputs[0] = maker.make("numbers", "Cast", {x}, {of("to", static_cast<std::int64_t>(DType::int32))});
  maker.give("Cast", {maker.make("reduced", op, std::move(inputs), std::move(attributes))},
             {of("to", static_cast<std::int64_t>(DType::boolean))});
  return {};
}

Status arg_extreme(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const Numbers axis, maker.known_integers(node, 1));
  if (axis.size() != 1) return bad_input("the axis must be one number");
  const OnnxAttributes attributes = {of("axis", axis[0]), of("keepdims", std::int64_t{0})};
  DType type = attribute<DType>(node, "output_type", DType::undefined);
  if (type == DType::undefined) type = maker.dtype(node.name, DType::int32);  // as TensorFlow.js does
  if (type == DType::int64) {
    maker.give(node.op, {x}, attributes);
    return {};
  }
  maker.give("Cast", {maker.make("place", node.op, {x}, attributes)},
             {of("to", static_cast<std::int64_t>(type))});
  return {};
}

Status top_k(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const Numbers k, maker.known_integers(node, 1));
  if (k.size() != 1) return bad_input("k must be one number");
  const Names found =
      maker.make_all("largest", "TopK", {x, maker.integers(k, "k")}, {of("axis", std::int64_t{-1})}, 2);
  maker.give("Identity", {found[0]});
  maker.give("Cast", {found[1]}, {of("to", static_cast<std::int64_t>(DType::int32))}, 1);
  return {};
}

Status cumulative(Maker& maker, const Node& node) {
  if (node.op != "Cumsum") return unsupported("cumulative products are not supported");
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const std::string axis, maker.input(node, 1));
  maker.give("CumSum", {x, axis},
             {of("exclusive", static_cast<std::int64_t>(attribute<bool>(node, "exclusive", false))),
              of("reverse", static_cast<std::int64_t>(attribute<bool>(node, "reverse", false)))});
  return {};
}

}  // namespace

void add_to(to_onnx_parts::RuleTable& table) {
  for (const std::string_view op : {"Sum", "Mean", "Max", "Min", "Prod", "All", "Any"}) table.add(op, reduce);
  table.add("ArgMax", arg_extreme);
  table.add("ArgMin", arg_extreme);
  table.add("TopKV2", top_k);
  table.add("Cumsum", cumulative);
  table.add("Cumprod", cumulative);
}

}  // namespace driftscope::tf::to_onnx_operators::reductions
