// CumSum: Cumsum. TopK: TopKV2 of the last axis, of negated values for the smallest.
#include <fmt/format.h>

#include "core/convert/tf/elementwise.hpp"
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
  const DType dtype = lowering.info(tensor).dtype;
  if (!largest && is_narrow(dtype))
    return unsupported(fmt::format("the smallest of quantized {} have no equivalent", dtype_name(dtype)));
  // Of integers −1 − x, as the smallest one has no negative.
  const bool whole = is_integer(dtype);
  const auto reversed = [&](const std::string& values) -> Inputs {
    return whole ? Inputs{lowering.number(-1, dtype), values} : Inputs{values};
  };
  const std::string_view reverse = whole ? "Sub" : "Neg";
  if (!largest) tensor = lowering.elementwise("reversed", reverse, reversed(tensor));
  TensorInfo info = lowering.info(tensor);
  info.shape.back() = k;
  const auto found = lowering.make_many("found", "TopKV2", {tensor, count}, {{"sorted", true}},
                                        {info, {DType::int32, info.shape, {}}});
  if (Lowering::has_output(node, 0)) {
    if (largest)
      DRIFTSCOPE_CHECK(lowering.give_same(node.outputs[0], found[0], last));
    else
      DRIFTSCOPE_CHECK(lowering.give(node.outputs[0], reverse, reversed(found[0]), {}, last));
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
