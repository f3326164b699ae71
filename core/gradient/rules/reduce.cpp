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

// 0 where all are 0 and there is no derivative, as in PyTorch.
Status l2(NodeGradient& at) {
  DRIFTSCOPE_TRY(const Reduced how, reduced(at));
  const std::string length = at.emit().or_one(kept_y(at, how), at.dtype());
  at.add(0, at.emit().mul(at.x(0), at.emit().div(how.dy, length)));
  return {};
}

// Of each element of [rows, count], the product of those before it in its row, or behind it: log₂ count
// products of shifted rows. Nothing is divided by, so that zeros are as good as other numbers.
std::string product_of_others(NodeGradient& at, const std::string& x, std::int64_t count, bool before) {
  GradientEmitter& emit = at.emit();
  const auto shifted = [&](const std::string& rows, std::int64_t by) {
    return emit.pad(rows, before ? Ints{0, by, 0, -by} : Ints{0, -by, 0, by}, 1.0, at.dtype());
  };
  std::string product = shifted(x, 1);
  for (std::int64_t reach = 1; reach < count - 1; reach *= 2)
    product = emit.mul(product, shifted(product, reach));
  return product;
}

Status product(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(const Reduced how, reduced(at));
  DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.input(0)));
  std::vector<bool> is_reduced(sizes.size(), false);
  std::int64_t count = 1;
  for (const std::int64_t axis : how.axes) {
    is_reduced[static_cast<std::size_t>(axis)] = true;
    DRIFTSCOPE_TRY(const std::int64_t size, at.size(at.input(0), static_cast<std::size_t>(axis)));
    if (size > 0 && count > (std::int64_t{1} << 31) / size) return at.unsupported_form("of so many factors");
    count *= size;
  }
  if (count == 0) return at.add(0, emit.zeros_like(at.x(0), at.dtype())), Status();
  // The reduced axes last.
  Ints order, apart;
  for (const bool last : {false, true})
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
      if (is_reduced[axis] != last) continue;
      order.push_back(static_cast<std::int64_t>(axis));
      apart.push_back(sizes[axis].known() ? sizes[axis].size : -1);
    }
  DRIFTSCOPE_TRY(apart, at.reshape_sizes(apart));
  Ints back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  const std::string rows = emit.reshape(emit.transpose(at.x(0), order), {-1, count});
  const std::string others =
      emit.mul(product_of_others(at, rows, count, true), product_of_others(at, rows, count, false));
  const std::string gradient = emit.mul(others, emit.reshape(at.dy(), {-1, 1}));
  at.add(0, emit.transpose(emit.reshape(gradient, apart), back));
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
  table.add("ReduceProd", rules::product);
  table.add("ReduceLogSum", rules::log_sum);
  table.add("ReduceLogSumExp", rules::log_sum_exp);
}

}  // namespace gradient_rules::reduce

}  // namespace driftscope
