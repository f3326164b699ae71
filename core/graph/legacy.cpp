#include "core/graph/legacy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace driftscope {
namespace {

constexpr std::int64_t modern = 7;

std::int64_t int_of(const ModelNode& node, std::string_view name, std::int64_t fallback) {
  for (const Attribute& attribute : node.attributes)
    if (attribute.name == name)
      if (const auto* value = std::get_if<std::int64_t>(&attribute.value)) return *value;
  return fallback;
}

bool drop(ModelNode& node, std::string_view name) {
  const auto is_one = [&](const Attribute& attribute) { return attribute.name == name; };
  if (std::ranges::none_of(node.attributes, is_one)) return false;
  std::erase_if(node.attributes.edit(), is_one);
  return true;
}

bool one_of(std::string_view op, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), op) != names.end();
}

}  // namespace

std::int64_t effective_opset(std::int64_t opset) { return std::max(opset, modern); }

Status modernize(ModelNode& node, std::int64_t opset) {
  if (opset >= modern || !node.domain.empty()) return {};
  drop(node, "consumed_inputs");
  if (one_of(node.op_type, {"BatchNormalization", "Dropout"})) {
    if (int_of(node, "is_test", 0) == 0)
      return unsupported(
          fmt::format("attribute is_test: is {}, which means training; only inference (1) is supported",
                      int_of(node, "is_test", -1) < 0 ? "absent, which means 0" : "0"));
    drop(node, "is_test");
  }
  if (one_of(node.op_type, {"Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Greater", "Less",
                            "PRelu", "Gemm"})) {
    const bool broadcast = int_of(node, "broadcast", 0) != 0;
    drop(node, "broadcast");
    if (broadcast)
      for (Attribute& attribute : node.attributes.edit())
        if (attribute.name == "axis") attribute.name = broadcast_axis;
    drop(node, "axis");
  }
  const bool by_attribute = (opset < 5 && node.op_type == "Reshape") ||
                            (opset < 2 && node.op_type == "Pad") || (opset < 6 && node.op_type == "Tile") ||
                            (opset < 2 && node.op_type == "Split") || (opset < 6 && node.op_type == "Cast");
  if (by_attribute)
    return unsupported(
        fmt::format("{} has another form in opset {} than from opset 7 on; convert the model with "
                    "onnx.version_converter",
                    node.op_type, opset));
  return {};
}

}  // namespace driftscope
