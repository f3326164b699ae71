#include "core/gradient/opset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>

namespace driftscope {
namespace {

// Operators whose nodes of opset 7 to 10 mean the same in opset 11: unchanged between, or only more types,
// negative axes, or new optional inputs and attributes (ONNX Changelog.md).
constexpr std::array unchanged_to_11 = std::to_array<std::string_view>({"Abs",
                                                                        "Acos",
                                                                        "Add",
                                                                        "And",
                                                                        "ArgMax",
                                                                        "ArgMin",
                                                                        "Asin",
                                                                        "Atan",
                                                                        "AveragePool",
                                                                        "BatchNormalization",
                                                                        "Cast",
                                                                        "Ceil",
                                                                        "Concat",
                                                                        "Constant",
                                                                        "ConstantOfShape",
                                                                        "Conv",
                                                                        "ConvTranspose",
                                                                        "Cos",
                                                                        "DepthToSpace",
                                                                        "Div",
                                                                        "Elu",
                                                                        "Equal",
                                                                        "Exp",
                                                                        "Expand",
                                                                        "Flatten",
                                                                        "Floor",
                                                                        "GRU",
                                                                        "Gather",
                                                                        "Gemm",
                                                                        "GlobalAveragePool",
                                                                        "GlobalMaxPool",
                                                                        "Greater",
                                                                        "HardSigmoid",
                                                                        "Hardmax",
                                                                        "Identity",
                                                                        "InstanceNormalization",
                                                                        "LRN",
                                                                        "LSTM",
                                                                        "LeakyRelu",
                                                                        "Less",
                                                                        "Log",
                                                                        "LogSoftmax",
                                                                        "MatMul",
                                                                        "Max",
                                                                        "MaxPool",
                                                                        "Mean",
                                                                        "Min",
                                                                        "Mul",
                                                                        "Neg",
                                                                        "Not",
                                                                        "Or",
                                                                        "PRelu",
                                                                        "Pow",
                                                                        "RNN",
                                                                        "Reciprocal",
                                                                        "ReduceL1",
                                                                        "ReduceL2",
                                                                        "ReduceLogSum",
                                                                        "ReduceLogSumExp",
                                                                        "ReduceMax",
                                                                        "ReduceMean",
                                                                        "ReduceMin",
                                                                        "ReduceProd",
                                                                        "ReduceSum",
                                                                        "ReduceSumSquare",
                                                                        "Relu",
                                                                        "Reshape",
                                                                        "Selu",
                                                                        "Shape",
                                                                        "Sigmoid",
                                                                        "Sign",
                                                                        "Sin",
                                                                        "Size",
                                                                        "Softmax",
                                                                        "Softplus",
                                                                        "Softsign",
                                                                        "Split",
                                                                        "Sqrt",
                                                                        "Squeeze",
                                                                        "Sub",
                                                                        "Sum",
                                                                        "Tan",
                                                                        "Tanh",
                                                                        "Tile",
                                                                        "Transpose",
                                                                        "Unsqueeze",
                                                                        "Where",
                                                                        "Xor",
                                                                        "Erf",
                                                                        "Dropout"});

}  // namespace

Result<Model> with_gradient_opset(const Model& model) {
  Model result = model;
  const auto onnx = result.opsets.find("");
  if (onnx == result.opsets.end())
    return unsupported("the model does not use ONNX's own operators: there is no gradient");
  if (onnx->second < 7)
    return unsupported(
        fmt::format("the model has opset {}; gradients need 7 or later: convert it with "
                    "onnx.version_converter",
                    onnx->second));
  if (onnx->second < min_gradient_opset) {
    for (const ModelNode& node : result.graph.nodes)
      if (node.domain.empty() && std::ranges::find(unchanged_to_11, node.op_type) == unchanged_to_11.end())
        return unsupported(
            fmt::format("the model has opset {}, and gradients need {}, where {} {} may mean something else: "
                        "convert the model with onnx.version_converter",
                        onnx->second, min_gradient_opset, node.op_type, node.name));
    onnx->second = min_gradient_opset;
  }
  for (const ModelNode& node : result.graph.nodes)
    if (node.domain.empty() && node.opset != 0 && node.opset != onnx->second)
      return unsupported(
          fmt::format("{} {}: it comes from a function of opset {} in a model of opset {}, for which there "
                      "is no gradient",
                      node.op_type, node.name, node.opset, onnx->second));
  // Inputs that are initializers too are defaults of inputs from IR version 4 on.
  if (result.ir_version < 4) {
    std::unordered_set<std::string> constants;
    for (const NamedTensor& tensor : result.graph.initializers) constants.insert(tensor.name);
    std::erase_if(result.graph.inputs,
                  [&](const ValueInfo& input) { return constants.contains(input.name); });
    result.ir_version = 4;
  }
  return result;
}

}  // namespace driftscope
