// LpPool and GlobalLpPool, (Σ|x|^p)^(1/p): dx = sign(x) |x|^(p − 1) · Σ over the windows of dy · y^(1 − p).
// Where all of a window are 0 there is no derivative, and its part is 0.
#include "core/gradient/window_gradient.hpp"

namespace driftscope {
namespace gradient_lp_pool {
namespace {

// What each window gives to its elements.
std::string share(NodeGradient& at, std::int64_t p) {
  GradientEmitter& emit = at.emit();
  if (p == 1) return at.dy();
  const std::string length = emit.or_one(at.y(), at.dtype());
  if (p == 2) return emit.div(at.dy(), length);
  const std::string exponent = emit.scalar(1.0 - static_cast<double>(p), at.dtype());
  return emit.mul(at.dy(), emit.node("Pow", {length, exponent}));
}

std::string times_power(NodeGradient& at, std::int64_t p, const std::string& gradient) {
  GradientEmitter& emit = at.emit();
  if (p == 1) return emit.mul(gradient, emit.node("Sign", {at.x(0)}));
  std::string power = at.x(0);
  if (p > 2)
    power = emit.mul(power, emit.node("Pow", {emit.node("Abs", {at.x(0)}),
                                              emit.scalar(static_cast<double>(p) - 2.0, at.dtype())}));
  return emit.mul(gradient, power);
}

Status lp_pool(NodeGradient& at) {
  DRIFTSCOPE_TRY(const std::int64_t p, int_attribute(at.node(), "p", 2));
  DRIFTSCOPE_TRY(const Ints kernel, ints_attribute(at.node(), "kernel_shape", {}));
  DRIFTSCOPE_TRY(const auto axes, window_axes(at, kernel));
  DRIFTSCOPE_TRY(const std::int64_t channels, at.size(at.input(0), 1));
  Shape shape = {channels, 1};
  shape.insert(shape.end(), kernel.begin(), kernel.end());
  const std::vector<double> ones(static_cast<std::size_t>(element_count(shape)), 1.0);
  const std::string sums =
      scatter_windows(at, share(at, p), at.emit().numbers(ones, shape, at.dtype()), axes, channels);
  at.add(0, times_power(at, p, sums));
  return {};
}

Status global_lp_pool(NodeGradient& at) {
  DRIFTSCOPE_TRY(const std::int64_t p, int_attribute(at.node(), "p", 2));
  at.add(0, times_power(at, p, share(at, p)));
  return {};
}

}  // namespace
}  // namespace gradient_lp_pool

namespace gradient_rules::lp_pool {

void add_to(GradientRuleTable& table) {
  table.add("LpPool", gradient_lp_pool::lp_pool);
  table.add("GlobalLpPool", gradient_lp_pool::global_lp_pool);
}

}  // namespace gradient_rules::lp_pool

}  // namespace driftscope
