// Operators of two or more operands, broadcast: each operand's gradient is summed to its shape.
#include <fmt/format.h>

#include "core/gradient/rule.hpp"

namespace driftscope {
namespace gradient_binary {
namespace {

Status add(NodeGradient& at) {
  for (std::size_t i = 0; i < at.node().inputs.size(); ++i)
    if (at.wanted(i)) DRIFTSCOPE_CHECK(at.add_broadcast(i, at.dy()));
  return {};
}

Status sub(NodeGradient& at) {
  if (at.wanted(0)) DRIFTSCOPE_CHECK(at.add_broadcast(0, at.dy()));
  if (at.wanted(1)) DRIFTSCOPE_CHECK(at.add_broadcast(1, at.emit().node("Neg", {at.dy()})));
  return {};
}

Status mul(NodeGradient& at) {
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
    if (at.wanted(i)) DRIFTSCOPE_CHECK(at.add_broadcast(i, at.emit().mul(at.dy(), at.x(1 - i))));
  return {};
}

Status div(NodeGradient& at) {
  const std::string quotient = at.emit().div(at.dy(), at.x(1));
  if (at.wanted(0)) DRIFTSCOPE_CHECK(at.add_broadcast(0, quotient));
  if (at.wanted(1))
    DRIFTSCOPE_CHECK(at.add_broadcast(1, at.emit().node("Neg", {at.emit().mul(quotient, at.y())})));
  return {};
}

// d/da a^b = b·a^(b−1); d/db = a^b·ln a, which is 0 where a is 0 (PyTorch).
Status pow(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  const DType dtype = at.input(0).dtype;
  const std::string exponent = at.input(1).dtype == dtype ? at.x(1) : emit.cast(at.x(1), dtype);
  const std::string one = emit.scalar(1.0, dtype);
  if (at.wanted(0)) {
    const std::string slope = emit.mul(exponent, emit.node("Pow", {at.x(0), emit.sub(exponent, one)}));
    DRIFTSCOPE_CHECK(at.add_broadcast(0, emit.mul(at.dy(), slope)));
  }
  if (at.wanted(1)) {
    const std::string zero = emit.node("Equal", {at.x(0), emit.scalar(0.0, dtype)});
    const std::string safe = emit.node("Where", {zero, one, at.x(0)});
    const std::string slope = emit.mul(at.y(), emit.node("Log", {safe}));
    DRIFTSCOPE_CHECK(at.add_broadcast(1, emit.mul(at.dy(), slope)));
  }
  return {};
}

// Operands that are equal share the gradient, as in PyTorch's maximum.
Status extreme(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  const std::size_t count = at.node().inputs.size();
  std::vector<std::string> masks;
  std::string ties;
  for (std::size_t i = 0; i < count; ++i) {
    masks.push_back(emit.mask("Equal", {at.x(i), at.y()}, at.dtype()));
    ties = i == 0 ? masks[0] : emit.add(ties, masks[i]);
  }
  const std::string share = emit.div(at.dy(), ties);
  for (std::size_t i = 0; i < count; ++i)
    if (at.wanted(i)) DRIFTSCOPE_CHECK(at.add_broadcast(i, emit.mul(share, masks[i])));
  return {};
}

Status mean(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  const auto count = static_cast<double>(at.node().inputs.size());
  const std::string share = emit.div(at.dy(), emit.scalar(count, at.dtype()));
  for (std::size_t i = 0; i < at.node().inputs.size(); ++i)
    if (at.wanted(i)) DRIFTSCOPE_CHECK(at.add_broadcast(i, share));
  return {};
}

Status prelu(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  const DType dtype = at.dtype();
  const std::string zero = emit.scalar(0.0, dtype);
  const std::string negative = emit.mask("Less", {at.x(0), zero}, dtype);
  if (at.wanted(0)) {
    // 1 + negative · (slope − 1); at 0 the slope is the given one in PyTorch (x > 0 passes).
    const std::string positive = emit.node("Greater", {at.x(0), zero});
    const std::string slope = emit.node("Where", {positive, emit.scalar(1.0, dtype), at.x(1)});
    at.add(0, emit.mul(at.dy(), slope));
  }
  if (at.wanted(1)) DRIFTSCOPE_CHECK(at.add_broadcast(1, emit.mul(at.dy(), emit.mul(at.x(0), negative))));
  return {};
}

Status where(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  const std::string zero = emit.scalar(0.0, at.dtype());
  if (at.wanted(1)) DRIFTSCOPE_CHECK(at.add_broadcast(1, emit.node("Where", {at.x(0), at.dy(), zero})));
  if (at.wanted(2)) DRIFTSCOPE_CHECK(at.add_broadcast(2, emit.node("Where", {at.x(0), zero, at.dy()})));
  return {};
}

Status expand(NodeGradient& at) { return at.add_broadcast(0, at.dy()); }

}  // namespace
}  // namespace gradient_binary

namespace gradient_rules::elementwise_binary {

void add_to(GradientRuleTable& table) {
  namespace rules = gradient_binary;
  table.add("Add", rules::add);
  table.add("Sum", rules::add);
  table.add("Sub", rules::sub);
  table.add("Mul", rules::mul);
  table.add("Div", rules::div);
  table.add("Pow", rules::pow);
  table.add("Max", rules::extreme);
  table.add("Min", rules::extreme);
  table.add("Mean", rules::mean);
  table.add("PRelu", rules::prelu);
  table.add("Where", rules::where);
  table.add("Expand", rules::expand);
}

}  // namespace gradient_rules::elementwise_binary

}  // namespace driftscope
