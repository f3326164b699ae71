#include "core/eval/operator.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/graph/legacy.hpp"

namespace driftscope {
namespace {

Status check_count(const Node& node, std::string_view what, std::size_t got, Count allowed) {
  const auto count = static_cast<int>(std::min<std::size_t>(got, variadic));
  if (count >= allowed.min && count <= allowed.max) return {};
  const std::string expected = allowed.min == allowed.max ? fmt::format("{}", allowed.min)
                               : allowed.max == variadic  ? fmt::format("at least {}", allowed.min)
                                                          : fmt::format("{} to {}", allowed.min, allowed.max);
  return bad_input(fmt::format("{}: expected {} {}, got {}", node_label(node), expected, what, got));
}

}  // namespace

std::string node_label(const Node& node) {
  return fmt::format("node {} ({}, opset {})", node.name, node.op_type, node.opset);
}

std::string operator_text(const Node& node) {
  return node.domain.empty() ? node.op_type : node.domain + "." + node.op_type;
}

void OperatorTable::add(const Operator& op) {
  operators_[{std::string(op.domain), std::string(op.op_type)}] = op;
}

const Operator* OperatorTable::find(std::string_view domain, std::string_view op_type) const {
  const auto found = operators_.find({std::string(domain), std::string(op_type)});
  return found == operators_.end() ? nullptr : &found->second;
}

std::vector<const Operator*> OperatorTable::all() const {
  std::vector<const Operator*> list;
  list.reserve(operators_.size());
  for (const auto& [key, op] : operators_) list.push_back(&op);
  return list;
}

Result<const Operator*> find_operator(const Node& node) {
  const std::string domain = node.domain.empty() ? "ai.onnx" : node.domain;
  if (!node.opaque.empty()) return unsupported(node.opaque);
  const Operator* op = operators().find(node.domain, node.op_type);
  if (op == nullptr)
    return unsupported(fmt::format("node {}: operator {} (domain {}, opset {}) is not known to this build",
                                   node.name, node.op_type, domain, node.opset));
  if (node.opset < op->since)
    return unsupported(
        fmt::format("node {}: operator {} of {} opset {} is older than the opset {} that is covered here; "
                    "convert the model with onnx.version_converter",
                    node.name, node.op_type, domain, node.opset, op->since));
  if (node.domain.empty() && node.opset > max_known_opset)
    return unsupported(
        fmt::format("node {}: operator {} of {} opset {} is newer than opset {}, the last that is known here",
                    node.name, node.op_type, domain, node.opset, max_known_opset));
  DRIFTSCOPE_CHECK(check_count(node, "inputs", node.inputs.size(), op->inputs));
  DRIFTSCOPE_CHECK(check_count(node, "outputs", node.outputs.size(), op->outputs));
  for (std::size_t i = 0; i < static_cast<std::size_t>(op->inputs.min); ++i)
    if (node.inputs[i] == no_value)
      return bad_input(fmt::format("{}: input {} is required but omitted", node_label(node), i));
  if (op->outputs.min == 1 && op->outputs.max != variadic && node.outputs[0] == no_value)
    return bad_input(fmt::format("{}: output 0 is required but omitted", node_label(node)));
  return op;
}

}  // namespace driftscope
