// Reductions: the gradient is spread over the axes that were reduced.
#include "core/gradient/rule.hpp"

namespace driftscope {
namespace gradient_reduce {
namespace {

struct Reduced {
  Ints axes;
  bool nothing = false;  ///< no axes, and noop_with_empty_axes
  std::string dy;        ///< with the reduced axes as 1
  std::string y;
};

Result<Reduced> reduced(NodeGradient& at) {
  Reduced result;
  DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.input(0)));
  DRIFTSCOPE_TRY(Ints axes, ints_attribute(at.node(), "axes", {}));
  if (at.has_input(1)) {
    DRIFTSCOPE_TRY(axes, at.constant_ints(1, "axes"));
  }
  DRIFTSCOPE_TRY(const bool nothing, flag_attribute(at.node(), "noop_with_empty_axes", false));
  result.nothing = axes.empty() && nothing;
  for (const std::int64_t axis : axes) {
    DRIFTSCOPE_TRY(const std::size_t from_front, normalize_axis(axis, sizes.size()));
    result.axes.push_back(static_cast<std::int64_t>(from_front));
  }
  if (axes.empty() && !nothing)
    for (std::size_t i = 0; i < sizes.size(); ++i) result.axes.push_back(static_cast<std::int64_t>(i));
  DRIFTSCOPE_TRY(const bool keep, flag_attribute(at.node(), "keepdims", true));
  result.dy = keep ? at.dy() : at.emit().unsqueeze(at.dy(), result.axes);
  result.y = at.y();
  return result;
}

std::string kept_y(NodeGradient& at, const Reduced& how) {
  return how.dy == at.dy() ? how.y : at.emit().unsqueeze(how.y, how.axes);
}

std::string spread(NodeGradient& at, const std::string& gradient) {
  return at.emit().node("Expand", {gradient, at.shape_of_input(0)});
}

Status sum(NodeGradient& at) {
  DRIFTSCOPE_TRY(const Reduced how, reduced(at));
  at.add(0, spread(at, how.dy));
  return {};
}

Status mean(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(const Reduced how, reduced(at));
  DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.input(0)));
  SymbolicShape along;
  for (const std::int64_t axis : how.axes) along.push_back(sizes[static_cast<std::size_t>(axis)]);
  const std::int64_t known = NodeGradient::product(along);
  const std::string count =
      known >= 0 ? emit.scalar(static_cast<double>(known), at.dtype())
                 : emit.cast(emit.div(emit.node("Size", {at.x(0)}), emit.node("Size", {at.y()})), at.dtype());
  at.add(0, spread(at, emit.div(how.dy, count)));
  return {};
}

// Equal extremes share it, as in PyTorch's amax.
Status extreme(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(const Reduced how, reduced(at));
  const std::string mask = emit.mask("Equal", {at.x(0), kept_y(at, how)}, at.dtype());
  const std::string ties = emit.reduce("ReduceSum", mask, how.axes, true);
  at.add(0, emit.mul(mask, emit.div(how.dy, ties)));
  return {};
}

Status sum_square(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(const Reduced how, reduced(at));
  at.add(0, emit.mul(emit.mul(at.x(0), emit.scalar(2.0, at.dtype())), how.dy));
  return {};
}

Status l1(NodeGradient& at) {
  DRIFTSCOPE_TRY(const Reduced how, reduced(at));
  at.add(0, at.emit().mul(at.emit().node("Sign", {at.x(0)}), how.dy));
  return {};
}

Status l2(NodeGradient& at) {
  DRIFTSCOPE_TRY(const Reduced how, reduced(at));
  at.add(0, at.emit().mul(at.x(0), at.emit().div(how.dy, kept_y(at, how))));
  return {};
}

Status log_sum(NodeGradient& at) {
  DRIFTSCOPE_TRY(const Reduced how, reduced(at));
  at.add(0, spread(at, at.emit().div(how.dy, at.emit().node("Exp", {kept_y(at, how)}))));
  return {};
}

Status log_sum_exp(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(const Reduced how, reduced(at));
  at.add(0, emit.mul(emit.node("Exp", {emit.sub(at.x(0), kept_y(at, how))}), how.dy));
  return {};
}

}  // namespace
}  // namespace gradient_reduce

namespace gradient_rules::reduce {

void add_to(GradientRuleTable& table) {
  namespace rules = gradient_reduce;
  table.add("ReduceSum", rules::sum);
  table.add("ReduceMean", rules::mean);
  table.add("ReduceMax", rules::extreme);
  table.add("ReduceMin", rules::extreme);
  table.add("ReduceSumSquare", rules::sum_square);
  table.add("ReduceL1", rules::l1);
  table.add("ReduceL2", rules::l2);
  table.add("ReduceLogSum", rules::log_sum);
  table.add("ReduceLogSumExp", rules::log_sum_exp);
}

}  // namespace gradient_rules::reduce

}  // namespace driftscope
