// Operators whose result follows from the shape of their input: a constant.
#include "core/convert/tf/lowering.hpp"
#include "core/eval/evaluate.hpp"

namespace driftscope::tf::operators::known {
namespace {

Status lower(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(const Tensor zeros,
                 Tensor::make(lowering.dtype(node.inputs[0]), lowering.shape(node.inputs[0])));
  ThreadPool threads(1);
  const std::vector<const Tensor*> inputs = {&zeros};
  DRIFTSCOPE_TRY(auto outputs, evaluate_strict(node, inputs, threads));
  DRIFTSCOPE_TRY(const std::string tensor, lowering.constant(std::move(outputs[0]), "known"));
  return lowering.give_same(node.outputs[0], tensor);
}

}  // namespace

void add_to(OperatorTable& table) {
  for (const std::string_view name : {"Shape", "Size", "EyeLike"}) table.add(name, lower);
}

}  // namespace driftscope::tf::operators::known
