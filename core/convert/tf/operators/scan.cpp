// CumSum: Cumsum. TopK: TopKV2 of the last axis, of negated values for the smallest.
#include <fmt/format.h>

#include "core/convert/tf/lowering.hpp"
#include "core/model/indices_of.hpp"

namespace driftscope::tf::operators::scan {
namespace {

Status lower_cumsum(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(const Tensor* const known, lowering.known(node, 1, "axis"));
  const auto given = indices_of(*known);
  if (given.size() != 1) return bad_input("input 1 (axis): expected one number");
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given[0], lowering.rank(node.inputs[0])));
  DRIFTSCOPE_TRY(const bool exclusive, flag_attribute(node, "exclusive", false));
  DRIFTSCOPE_TRY(const bool reverse, flag_attribute(node, "reverse", false));
  DRIFTSCOPE_TRY(const std::string x, lowering.read(node.inputs[0]));
  DRIFTSCOPE_TRY(const std::string at, lowering.scalar_int(static_cast<std::int64_t>(axis), "axis"));
  return lowering.give(node.outputs[0], "Cumsum", {x, at}, {{"exclusive", exclusive}, {"reverse", reverse}});
}

Status lower_top_k(Lowering& lowering, const OnnxNode& node) {
  const ValueId x = node.inputs[0];
  const Shape shape = lowering.shape(x);
  DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(node, "axis", -1));
  DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, shape.size()));
  DRIFTSCOPE_TRY(const bool largest, flag_attribute(node, "largest", true));
  if (!Lowering::has_output(node, 0) && !Lowering::has_output(node, 1)) return {};
  const ValueId any = node.outputs[Lowering::has_output(node, 0) ? 0 : 1];
  const std::int64_t k = lowering.shape(any)[axis];
  Order last;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (i != axis) last.push_back(i);
  last.push_back(axis);
  last = normalized(last);
  DRIFTSCOPE_TRY(std::string tensor, lowering.read(x, last));
  DRIFTSCOPE_TRY(const std::string count, lowering.scalar_int(k, "k"));
  if (largest && node.outputs.size() == 2 && Lowering::has_output(node, 0) && Lowering::has_output(node, 1))
    return lowering.give_all(node.outputs, "TopKV2", {tensor, count}, {{"sorted", true}}, last);
  // −1 − x, as the least integer has no negative.
  const DType dtype = lowering.info(tensor).dtype;
  const std::string minus_one = is_integer(dtype) && !largest ? lowering.number(-1, dtype) : "";
  if (!largest && !minus_one.empty())
    tensor = lowering.elementwise("reversed", "Sub", {minus_one, tensor});
  else if (!largest)
    tensor = lowering.elementwise("negated", "Neg", {tensor});
  TensorInfo info = lowering.info(tensor);
  info.shape.back() = k;
  const auto found = lowering.make_many("found", "TopKV2", {tensor, count}, {{"sorted", true}},
                                        {info, {DType::int32, info.shape, {}}});
  if (Lowering::has_output(node, 0)) {
    Inputs inputs = {found[0]};
    if (!minus_one.empty()) inputs.insert(inputs.begin(), minus_one);
    const std::string_view op = largest ? "Identity" : minus_one.empty() ? "Neg" : "Sub";
    DRIFTSCOPE_CHECK(lowering.give(node.outputs[0], op, std::move(inputs), {}, last));
  }
  if (Lowering::has_output(node, 1)) DRIFTSCOPE_CHECK(lowering.give_same(node.outputs[1], found[1], last));
  return {};
}

}  // namespace

void add_to(OperatorTable& table) {
  table.add("CumSum", lower_cumsum);
  table.add("TopK", lower_top_k);
}

}  // namespace driftscope::tf::operators::scan
