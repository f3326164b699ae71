// Einsum of one or two operands.
#include "core/convert/tf/lowering.hpp"

namespace driftscope::tf::operators::einsum {
namespace {

Status lower(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(std::string equation, string_attribute(node, "equation", ""));
  std::erase(equation, ' ');
  if (!lowering.has("Einsum")) return unsupported("there is no Einsum");
  if (node.inputs.size() > 2) return unsupported("more than two operands have no equivalent");
  if (equation.find("...") != std::string::npos) return unsupported("an ellipsis has no equivalent");
  if (equation.find("->") == std::string::npos) return unsupported("an implicit result has no equivalent");
  std::string operand;  // TensorFlow.js has no diagonals
  for (const char c : equation.substr(0, equation.find("->"))) {
    if (c == ',')
      operand.clear();
    else if (operand.find(c) != std::string::npos)
      return unsupported("a repeated index of an operand has no equivalent");
    else
      operand += c;
  }
  Inputs inputs;
  for (const ValueId id : node.inputs) {
    DRIFTSCOPE_TRY(std::string tensor, lowering.read(id));
    inputs.push_back(std::move(tensor));
  }
  const auto count = static_cast<std::int64_t>(inputs.size());
  return lowering.give(node.outputs[0], "Einsum", std::move(inputs), {{"equation", equation}, {"N", count}});
}

}  // namespace

void add_to(OperatorTable& table) { table.add("Einsum", lower); }

}  // namespace driftscope::tf::operators::einsum
