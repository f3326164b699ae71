// Activations with parameters, those along the last axis, and those fused into other operators.
#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/convert/tf/to_onnx/maker.hpp"

namespace driftscope::tf::to_onnx_parts {

Status give_activation(Maker& maker, const Node& node, std::string_view activation,
                       const std::string& tensor) {
  const auto between = [&](double low, double high) -> Status {
    DRIFTSCOPE_TRY(const std::string from, maker.scalar(low, DType::float32, "low"));
    DRIFTSCOPE_TRY(const std::string to, maker.scalar(high, DType::float32, "high"));
    maker.give("Clip", {tensor, from, to});
    return {};
  };
  if (activation == "Relu6") return between(0.0, 6.0);
  if (activation == "ReluN1To1") return between(-1.0, 1.0);
  if (activation == "Relu0To1") return between(0.0, 1.0);
  if (activation == "LeakyRelu") {
    const float alpha = attribute<float>(node, "leakyrelu_alpha", attribute<float>(node, "alpha", 0.2f));
    maker.give("LeakyRelu", {tensor}, {of("alpha", alpha)});
    return {};
  }
  for (const std::string_view same : {"Relu", "Elu", "Sigmoid", "Tanh", "HardSwish"})
    if (activation == same) {
      maker.give(same, {tensor});
      return {};
    }
  return unsupported(fmt::format("the activation {} is not supported", in_quotes(activation)));
}

}  // namespace driftscope::tf::to_onnx_parts

namespace driftscope::tf::to_onnx_operators::activations {
namespace {

using namespace to_onnx_parts;

Status alone(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  return give_activation(maker, node, node.op, x);
}

Status prelu(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const std::string slope, maker.input(node, 1));
  maker.give("PRelu", {x, slope});
  return {};
}

/// TensorFlow Lite's has a factor before it.
Status softmax(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(std::string x, maker.input(node, 0));
  const float beta = attribute<float>(node, "beta", 1.0f);
  if (beta != 1.0f) {
    DRIFTSCOPE_TRY(const std::string factor, maker.scalar(static_cast<double>(beta), DType::float32, "beta"));
    x = maker.make("scaled", "Mul", {x, factor});
  }
  maker.give(node.op, {x}, {of("axis", std::int64_t{-1})});
  return {};
}

Status gelu(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  maker.give("Gelu", {x},
             {of("approximate", std::string(attribute<bool>(node, "approximate", false) ? "tanh" : "none"))});
  return {};
}

/// x / √max(Σx², ε) along the last axis, as TensorFlow Lite's L2_NORMALIZATION.
Status l2_normalization(Maker& maker, const Node& node) {
  DRIFTSCOPE_TRY(const std::string x, maker.input(node, 0));
  DRIFTSCOPE_TRY(const std::string epsilon, maker.scalar(1e-12, DType::float32, "epsilon"));
  const std::string sum = maker.make("squares", "ReduceSumSquare", {x, maker.integers({-1}, "axes")});
  maker.give("Div", {x, maker.make("root", "Sqrt", {maker.make("sum", "Max", {sum, epsilon})})});
  return {};
}

}  // namespace

void add_to(to_onnx_parts::RuleTable& table) {
  for (const std::string_view op : {"Relu6", "ReluN1To1", "Relu0To1", "LeakyRelu"}) table.add(op, alone);
  table.add("Prelu", prelu);
  table.add("Softmax", softmax);
  table.add("LogSoftmax", softmax);
  table.add("Gelu", gelu);
  table.add("L2Normalization", l2_normalization);
}

}  // namespace driftscope::tf::to_onnx_operators::activations
