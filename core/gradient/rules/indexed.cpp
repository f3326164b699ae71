// Operators that choose elements by index tensors or put them in place: what was read goes back with a
// scatter that adds, and what was put is read. Several updates of one element get its gradient each, as
// PyTorch has it.
#include <fmt/format.h>

#include "core/gradient/rule.hpp"

namespace driftscope {
namespace gradient_indexed {
namespace {

// Scatters add from opset 16 on.
Status expect_adding(NodeGradient& at) {
  if (at.emit().opset() >= 16) return {};
  return at.unsupported_form(
      "before opset 16, where no scatter adds: convert the model with onnx.version_converter");
}

Result<Attribute> axis_of(NodeGradient& at, std::int64_t fallback) {
  DRIFTSCOPE_TRY(const std::int64_t axis, int_attribute(at.node(), "axis", fallback));
  return Attribute{"axis", axis};
}

Status gather_elements(NodeGradient& at) {
  DRIFTSCOPE_CHECK(expect_adding(at));
  DRIFTSCOPE_TRY(const Attribute axis, axis_of(at, 0));
  at.add(0, at.emit().node("ScatterElements", {at.emit().zeros_like(at.x(0), at.dtype()), at.x(1), at.dy()},
                           {axis, {"reduction", std::string("add")}}));
  return {};
}

Status gather_nd(NodeGradient& at) {
  DRIFTSCOPE_CHECK(expect_adding(at));
  DRIFTSCOPE_TRY(const std::int64_t batch, int_attribute(at.node(), "batch_dims", 0));
  if (batch != 0) return at.unsupported_form("with batch_dims");
  at.add(0, at.emit().node("ScatterND", {at.emit().zeros_like(at.x(0), at.dtype()), at.x(1), at.dy()},
                           {{"reduction", std::string("add")}}));
  return {};
}

// No index is chosen twice, so that nothing has to add up.
Status top_k(NodeGradient& at) {
  DRIFTSCOPE_TRY(const Attribute axis, axis_of(at, -1));
  at.add(0, at.emit().node("ScatterElements", {at.emit().zeros_like(at.x(0), at.dtype()), at.y(1), at.dy()},
                           {axis}));
  return {};
}

Status scatter(NodeGradient& at, std::string_view scatter_op, std::string_view gather_op,
               const std::vector<Attribute>& where) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(const std::string reduction, string_attribute(at.node(), "reduction", "none"));
  if (reduction != "none" && reduction != "add")
    return at.unsupported_form(fmt::format("with reduction {}", reduction));
  if (at.wanted(0))
    at.add(0, reduction == "add"
                  ? at.dy()
                  : emit.node(scatter_op, {at.dy(), at.x(1), emit.zeros_like(at.x(2), at.dtype())}, where));
  if (at.wanted(2)) at.add(2, emit.node(gather_op, {at.dy(), at.x(1)}, where));
  return {};
}

Status scatter_elements(NodeGradient& at) {
  DRIFTSCOPE_TRY(const Attribute axis, axis_of(at, 0));
  return scatter(at, "ScatterElements", "GatherElements", {axis});
}

Status scatter_nd(NodeGradient& at) { return scatter(at, "ScatterND", "GatherND", {}); }

}  // namespace
}  // namespace gradient_indexed

namespace gradient_rules::indexed {

void add_to(GradientRuleTable& table) {
  namespace rules = gradient_indexed;
  table.add("GatherElements", rules::gather_elements);
  table.add("GatherND", rules::gather_nd);
  table.add("TopK", rules::top_k);
  for (const char* op : {"Scatter", "ScatterElements"}) table.add(op, rules::scatter_elements);
  table.add("ScatterND", rules::scatter_nd);
}

}  // namespace gradient_rules::indexed

}  // namespace driftscope
