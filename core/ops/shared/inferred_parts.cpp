// Compiled for size on the web (cmake/core.cmake).
#include "core/ops/shared/inferred_parts.hpp"

#include "core/eval/infer_shapes.hpp"

namespace driftscope {

std::vector<TensorType> all_inputs(const InferContext& context) {
  std::vector<TensorType> types;
  for (std::size_t i = 0; i < context.input_count(); ++i)
    types.push_back(context.has_input(i) ? context.input(i) : TensorType{});
  return types;
}

Result<std::vector<TensorType>> infer_part(const InferContext& context, std::string_view op_type,
                                           std::vector<TensorType> inputs, std::vector<Attribute> attributes,
                                           std::size_t outputs) {
  Node node{.name = context.node().name,
            .op_type = std::string(op_type),
            .domain = "",
            .inputs = {},
            .outputs = {},
            .attributes = std::move(attributes),
            .subgraphs = {},
            .captured = {}};
  node.opset = 21;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool omitted = i < context.input_count() ? context.node().inputs[i] == no_value : false;
    node.inputs.push_back(omitted ? no_value : static_cast<ValueId>(i));
  }
  for (std::size_t o = 0; o < outputs; ++o) node.outputs.push_back(static_cast<ValueId>(inputs.size() + o));
  const std::vector<const Tensor*> constants(inputs.size(), nullptr);
  return infer_node(node, inputs, constants);
}

}  // namespace driftscope
