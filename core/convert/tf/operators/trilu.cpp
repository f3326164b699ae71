// Trilu: a choice between the input and zero by a known mask.
#include <limits>

#include "core/convert/tf/lowering.hpp"
#include "core/model/indices_of.hpp"

namespace driftscope::tf::operators::trilu {
namespace {

Status lower(Lowering& lowering, const OnnxNode& node) {
  const Shape shape = lowering.shape(node.inputs[0]);
  DRIFTSCOPE_TRY(const bool upper, flag_attribute(node, "upper", true));
  std::int64_t k = 0;
  if (Lowering::has_input(node, 1)) {
    DRIFTSCOPE_TRY(const Tensor* const known, lowering.known(node, 1, "k"));
    const auto values = indices_of(*known);
    if (values.size() != 1) return bad_input("input 1 (k): expected one number");
    k = values[0];
  }
  const std::int64_t rows = shape[shape.size() - 2];
  const std::int64_t columns = shape.back();
  DRIFTSCOPE_TRY(Tensor mask, Tensor::make(DType::boolean, {rows, columns}));
  const auto kept = mask.mutable_values<std::uint8_t>();
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      kept[static_cast<std::size_t>(r * columns + c)] = upper ? c - r >= k : c - r <= k;
  DRIFTSCOPE_TRY(const std::string x, lowering.read(node.inputs[0]));
  DRIFTSCOPE_TRY(const std::string which, lowering.constant(mask, "mask"));
  if (lowering.dtype(node.inputs[0]) == DType::boolean)
    return lowering.give(node.outputs[0], "LogicalAnd", {which, x});
  return lowering.give(node.outputs[0], "SelectV2",
                       {which, x, lowering.number(0, lowering.dtype(node.inputs[0]))});
}

}  // namespace

void add_to(OperatorTable& table) { table.add("Trilu", lower); }

}  // namespace driftscope::tf::operators::trilu
