// MatMul: MatMul of two matrices, else BatchMatMulV2; a vector temporarily becomes a row or a column.
#include <fmt/format.h>

#include "core/convert/tf/lowering.hpp"

namespace driftscope::tf::operators::matmul {
namespace {

Status lower(Lowering& lowering, const OnnxNode& node) {
  if (lowering.dtype(node.outputs[0]) != DType::float32)
    return unsupported(fmt::format("a product of matrices of {} has no equivalent",
                                   dtype_name(lowering.dtype(node.outputs[0]))));
  Shape a = lowering.shape(node.inputs[0]);
  Shape b = lowering.shape(node.inputs[1]);
  const bool vectors = a.size() == 1 || b.size() == 1;
  DRIFTSCOPE_TRY(std::string left, lowering.read(node.inputs[0]));
  DRIFTSCOPE_TRY(std::string right, lowering.read(node.inputs[1]));
  if (a.size() == 1) {
    a.insert(a.begin(), 1);
    DRIFTSCOPE_TRY(left, lowering.reshape("row", left, a));
  }
  if (b.size() == 1) {
    b.push_back(1);
    DRIFTSCOPE_TRY(right, lowering.reshape("column", right, b));
  }
  const bool matrices = a.size() == 2 && b.size() == 2;
  const std::string_view op = matrices ? "MatMul" : "BatchMatMulV2";
  Attributes attributes = matrices ? Attributes{{"transpose_a", false}, {"transpose_b", false}}
                                   : Attributes{{"adj_x", false}, {"adj_y", false}};
  if (!vectors) return lowering.give(node.outputs[0], op, {left, right}, std::move(attributes));
  const Shape& batches = a.size() > b.size() ? a : b;
  Shape y(batches.begin(), batches.end() - 2);
  y.insert(y.end(), {a[a.size() - 2], b.back()});
  const std::string product =
      lowering.make("product", op, {left, right}, std::move(attributes), {DType::float32, y, {}});
  return lowering.give_reshaped(node.outputs[0], product);
}

}  // namespace

void add_to(OperatorTable& table) { table.add("MatMul", lower); }

}  // namespace driftscope::tf::operators::matmul
