// If: the graphs of TensorFlow's functions become those inside ONNX's node.
#include <array>

#include "core/convert/tf/to_onnx/maker.hpp"

namespace driftscope::tf::to_onnx_operators::control_flow {
namespace {

using namespace to_onnx_parts;

Status if_(Maker& maker, const Node& node) {
  constexpr std::array<const char*, 2> names = {"then_branch", "else_branch"};
  if (node.branches.size() != names.size())
    return unsupported("its branches are functions of a library, which are not read");
  DRIFTSCOPE_TRY(const std::string condition, maker.input(node, 0));
  const Names around(node.inputs.begin() + 1, node.inputs.end());
  OnnxAttributes attributes;
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto graph = maker.branch(*node.branches[i], around);
    if (!graph.ok()) return in_context(std::move(graph).error(), names[i]);
    attributes.push_back(of(names[i], *std::move(graph)));
  }
  const std::size_t outputs = node.branches[0]->outputs.size();
  if (outputs == 0 || outputs != node.branches[1]->outputs.size())
    return bad_input("its branches differ in the number of outputs, or have none");
  maker.give_all("If", {condition}, std::move(attributes), outputs);
  return {};
}

}  // namespace

// Of quantized tensors the integers pass in and out.
void add_to(to_onnx_parts::RuleTable& table) { table.add("If", if_, true); }

}  // namespace driftscope::tf::to_onnx_operators::control_flow
