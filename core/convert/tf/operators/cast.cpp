// Cast between the types that the runtime has; narrower integers, which wrap, have no equivalent.
#include <fmt/format.h>

#include "core/convert/tf/elementwise.hpp"

namespace driftscope::tf::operators::cast {
namespace {

Status lower(Lowering& lowering, const OnnxNode& node) {
  const DType from = lowering.dtype(node.inputs[0]);
  const DType to = lowering.dtype(node.outputs[0]);
  if (is_narrow(to) && from != DType::boolean && from != to)
    return unsupported(fmt::format("{} becomes {}, which wraps around: it has no equivalent",
                                   dtype_name(from), dtype_name(to)));
  DRIFTSCOPE_TRY(const Operands x, read_operand(lowering, node));
  DRIFTSCOPE_TRY(const DType type, runtime_type(lowering.dialect(), to));
  const DType source = lowering.info(x.tensors[0]).dtype;
  if (source == type) return lowering.give_same(node.outputs[0], x.tensors[0], x.order);
  // A number is true where it is not zero.
  if (type == DType::boolean)
    return lowering.give(node.outputs[0], "NotEqual", {x.tensors[0], lowering.number(0, source)}, {},
                         x.order);
  return lowering.give(node.outputs[0], "Cast", {x.tensors[0]}, {{"SrcT", source}, {"DstT", type}}, x.order);
}

}  // namespace

void add_to(OperatorTable& table) {
  table.add("Cast", lower, Prefers::any);
  table.add("CastLike", lower, Prefers::any);
}

}  // namespace driftscope::tf::operators::cast
