// dx = dy · f′(x), from the output where that is cheaper (ONNX Operators.md has the functions).
#include <cmath>
#include <functional>
#include <numbers>

#include "core/gradient/rule.hpp"

namespace driftscope {
namespace gradient_unary {
namespace {

// A node's emitter with numbers of its type.
struct Unary {
  NodeGradient& at;
  GradientEmitter& emit = at.emit();
  DType dtype = at.dtype();
  std::string x = at.x(0);
  std::string y = at.y();

  std::string number(double value) { return emit.scalar(value, dtype); }
  std::string op(std::string_view name, const std::string& a) { return emit.node(name, {a}); }
  std::string scaled(const std::string& a, double factor) { return emit.mul(a, number(factor)); }
  std::string plus(const std::string& a, double term) { return emit.add(a, number(term)); }
  std::string one_minus(const std::string& a) { return emit.sub(number(1.0), a); }
  std::string square(const std::string& a) { return emit.mul(a, a); }
  std::string above(const std::string& a, double b) { return emit.mask("Greater", {a, number(b)}, dtype); }
  std::string below(const std::string& a, double b) { return emit.mask("Less", {a, number(b)}, dtype); }
  Result<double> attribute(std::string_view name, float fallback) const {
    DRIFTSCOPE_TRY(const float value, float_attribute(at.node(), name, fallback));
    return static_cast<double>(value);
  }
  Status done(const std::string& slope) {
    at.add(0, emit.mul(at.dy(), slope));
    return {};
  }
  Status quotient(const std::string& divisor) {
    at.add(0, emit.div(at.dy(), divisor));
    return {};
  }
};

Status relu(NodeGradient& at) {
  Unary f{at};
  return f.done(f.above(f.x, 0.0));
}

// slope · x below 0, x above.
Status two_slopes(Unary& f, double slope) {
  const std::string positive = f.above(f.x, 0.0);
  return f.done(f.plus(f.scaled(positive, 1.0 - slope), slope));
}

Status leaky_relu(NodeGradient& at) {
  Unary f{at};
  DRIFTSCOPE_TRY(const double alpha, f.attribute("alpha", 0.01f));
  return two_slopes(f, alpha);
}

// gamma · (x above 0, alpha · (e^(x / width) − 1) below).
Status exponential_below(Unary& f, double alpha, double width, double gamma) {
  const std::string positive = f.above(f.x, 0.0);
  const std::string low = f.op("Exp", f.scaled(f.emit.node("Min", {f.x, f.number(0.0)}), 1.0 / width));
  const std::string falling = f.emit.mul(f.one_minus(positive), f.scaled(low, gamma * alpha / width));
  return f.done(f.emit.add(f.scaled(positive, gamma), falling));
}

Status elu(NodeGradient& at) {
  Unary f{at};
  DRIFTSCOPE_TRY(const double alpha, f.attribute("alpha", 1.0f));
  return exponential_below(f, alpha, 1.0, 1.0);
}

Status celu(NodeGradient& at) {
  Unary f{at};
  DRIFTSCOPE_TRY(const double alpha, f.attribute("alpha", 1.0f));
  return exponential_below(f, alpha, alpha, 1.0);
}

Status selu(NodeGradient& at) {
  Unary f{at};
  DRIFTSCOPE_TRY(const double alpha, f.attribute("alpha", 1.67326319217681884765625f));
  DRIFTSCOPE_TRY(const double gamma, f.attribute("gamma", 1.05070102214813232421875f));
  return exponential_below(f, alpha, 1.0, gamma);
}

Status thresholded_relu(NodeGradient& at) {
  Unary f{at};
  DRIFTSCOPE_TRY(const double alpha, f.attribute("alpha", 1.0f));
  return f.done(f.above(f.x, alpha));
}

Status sigmoid(NodeGradient& at) {
  Unary f{at};
  return f.done(f.emit.mul(f.y, f.one_minus(f.y)));
}

Status hard_sigmoid_of(Unary& f, double alpha, double beta, bool times_x) {
  const std::string line = f.plus(f.scaled(f.x, alpha), beta);
  const std::string inside = f.emit.mul(f.above(line, 0.0), f.below(line, 1.0));
  const std::string slope = f.scaled(inside, alpha);
  if (!times_x) return f.done(slope);
  const std::string gate = f.emit.node("Min", {f.emit.node("Max", {line, f.number(0.0)}), f.number(1.0)});
  return f.done(f.emit.add(gate, f.emit.mul(f.x, slope)));
}

Status hard_sigmoid(NodeGradient& at) {
  Unary f{at};
  DRIFTSCOPE_TRY(const double alpha, f.attribute("alpha", 0.2f));
  DRIFTSCOPE_TRY(const double beta, f.attribute("beta", 0.5f));
  return hard_sigmoid_of(f, alpha, beta, false);
}

Status hard_swish(NodeGradient& at) {
  Unary f{at};
  return hard_sigmoid_of(f, 1.0 / 6.0, 0.5, true);
}

// x · σ(αx), of opset 24.
Status swish(NodeGradient& at) {
  Unary f{at};
  DRIFTSCOPE_TRY(const double alpha, f.attribute("alpha", 1.0f));
  const std::string gate = f.op("Sigmoid", f.scaled(f.x, alpha));
  const std::string rest = f.emit.mul(f.scaled(f.y, alpha), f.one_minus(gate));
  return f.done(f.emit.add(gate, rest));
}

// x · tanh(t), t = softplus(x): tanh(t) + x · (1 − tanh²(t)) · σ(x).
Status mish(NodeGradient& at) {
  Unary f{at};
  const std::string t = f.op("Tanh", f.op("Softplus", f.x));
  const std::string slope = f.emit.mul(f.one_minus(f.square(t)), f.op("Sigmoid", f.x));
  return f.done(f.emit.add(t, f.emit.mul(f.x, slope)));
}

Status tanh(NodeGradient& at) {
  Unary f{at};
  return f.done(f.one_minus(f.square(f.y)));
}

Status softplus(NodeGradient& at) {
  Unary f{at};
  return f.done(f.op("Sigmoid", f.x));
}

Status softsign(NodeGradient& at) {
  Unary f{at};
  return f.quotient(f.square(f.plus(f.op("Abs", f.x), 1.0)));
}

// 2/√π · e^(−x²).
Status erf(NodeGradient& at) {
  Unary f{at};
  return f.done(f.scaled(f.op("Exp", f.op("Neg", f.square(f.x))), 2.0 * std::numbers::inv_sqrtpi));
}

// Φ(x) + x · φ(x), or the derivative of the tanh approximation.
Status gelu(NodeGradient& at) {
  Unary f{at};
  DRIFTSCOPE_TRY(const std::string approximate, string_attribute(at.node(), "approximate", "none"));
  if (approximate == "none") {
    const std::string erf_x = f.op("Erf", f.scaled(f.x, 1.0 / std::numbers::sqrt2));
    const std::string phi = f.scaled(f.plus(erf_x, 1.0), 0.5);
    const std::string bell = f.op("Exp", f.scaled(f.square(f.x), -0.5));
    const double density = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
    return f.done(f.emit.add(phi, f.scaled(f.emit.mul(f.x, bell), density)));
  }
  constexpr double cubic = 0.044715;
  const double root = std::sqrt(2.0 / std::numbers::pi);
  const std::string x2 = f.square(f.x);
  const std::string inner = f.emit.mul(f.x, f.scaled(f.plus(f.scaled(x2, cubic), 1.0), root));
  const std::string t = f.op("Tanh", inner);
  const std::string inner_slope = f.scaled(f.plus(f.scaled(x2, 3.0 * cubic), 1.0), root);
  const std::string bend = f.emit.mul(f.emit.mul(f.x, f.one_minus(f.square(t))), inner_slope);
  return f.done(f.scaled(f.emit.add(f.plus(t, 1.0), bend), 0.5));
}

Status exp(NodeGradient& at) {
  Unary f{at};
  return f.done(f.y);
}

Status log(NodeGradient& at) {
  Unary f{at};
  return f.quotient(f.x);
}

Status sqrt(NodeGradient& at) {
  Unary f{at};
  return f.quotient(f.scaled(f.y, 2.0));
}

Status reciprocal(NodeGradient& at) {
  Unary f{at};
  return f.done(f.op("Neg", f.square(f.y)));
}

Status neg(NodeGradient& at) {
  at.add(0, at.emit().node("Neg", {at.dy()}));
  return {};
}

Status abs(NodeGradient& at) {
  Unary f{at};
  return f.done(f.op("Sign", f.x));
}

Status sin(NodeGradient& at) {
  Unary f{at};
  return f.done(f.op("Cos", f.x));
}

Status cos(NodeGradient& at) {
  Unary f{at};
  return f.done(f.op("Neg", f.op("Sin", f.x)));
}

Status tan(NodeGradient& at) {
  Unary f{at};
  return f.done(f.plus(f.square(f.y), 1.0));
}

Status asin(NodeGradient& at) {
  Unary f{at};
  return f.quotient(f.op("Sqrt", f.one_minus(f.square(f.x))));
}

Status acos(NodeGradient& at) {
  Unary f{at};
  return f.quotient(f.op("Neg", f.op("Sqrt", f.one_minus(f.square(f.x)))));
}

Status atan(NodeGradient& at) {
  Unary f{at};
  return f.quotient(f.plus(f.square(f.x), 1.0));
}

Status sinh(NodeGradient& at) {
  Unary f{at};
  return f.done(f.op("Cosh", f.x));
}

Status cosh(NodeGradient& at) {
  Unary f{at};
  return f.done(f.op("Sinh", f.x));
}

Status asinh(NodeGradient& at) {
  Unary f{at};
  return f.quotient(f.op("Sqrt", f.plus(f.square(f.x), 1.0)));
}

Status acosh(NodeGradient& at) {
  Unary f{at};
  return f.quotient(f.op("Sqrt", f.plus(f.square(f.x), -1.0)));
}

Status atanh(NodeGradient& at) {
  Unary f{at};
  return f.quotient(f.one_minus(f.square(f.x)));
}

// Constant between its jumps.
Status step(NodeGradient&) { return {}; }

// Passes where nothing was clipped, limits included, as PyTorch's clamp.
Status clip(NodeGradient& at) {
  Unary f{at};
  std::string gradient = at.dy();
  if (at.wanted(1) || at.wanted(2)) return at.unsupported_form("with respect to a limit of Clip");
  if (at.has_input(1) || at.has_input(2)) {
    for (const std::size_t limit : {std::size_t{1}, std::size_t{2}}) {
      if (!at.has_input(limit)) continue;
      const std::string clipped = f.emit.mask(limit == 1 ? "Less" : "Greater", {f.x, at.x(limit)}, f.dtype);
      gradient = f.emit.mul(gradient, f.one_minus(clipped));
    }
  } else if (at.node().opset < 11) {
    return at.unsupported_form("of its form before opset 11");
  }
  at.add(0, gradient);
  return {};
}

}  // namespace
}  // namespace gradient_unary

namespace gradient_rules::elementwise_unary {

void add_to(GradientRuleTable& table) {
  namespace rules = gradient_unary;
  table.add("Relu", rules::relu);
  table.add("LeakyRelu", rules::leaky_relu);
  table.add("Elu", rules::elu);
  table.add("Celu", rules::celu);
  table.add("Selu", rules::selu);
  table.add("ThresholdedRelu", rules::thresholded_relu);
  table.add("Sigmoid", rules::sigmoid);
  table.add("HardSigmoid", rules::hard_sigmoid);
  table.add("HardSwish", rules::hard_swish);
  table.add("Swish", rules::swish);
  table.add("Mish", rules::mish);
  table.add("Tanh", rules::tanh);
  table.add("Softplus", rules::softplus);
  table.add("Softsign", rules::softsign);
  table.add("Erf", rules::erf);
  table.add("Gelu", rules::gelu);
  table.add("Exp", rules::exp);
  table.add("Log", rules::log);
  table.add("Sqrt", rules::sqrt);
  table.add("Reciprocal", rules::reciprocal);
  table.add("Neg", rules::neg);
  table.add("Abs", rules::abs);
  table.add("Sin", rules::sin);
  table.add("Cos", rules::cos);
  table.add("Tan", rules::tan);
  table.add("Asin", rules::asin);
  table.add("Acos", rules::acos);
  table.add("Atan", rules::atan);
  table.add("Sinh", rules::sinh);
  table.add("Cosh", rules::cosh);
  table.add("Asinh", rules::asinh);
  table.add("Acosh", rules::acosh);
  table.add("Atanh", rules::atanh);
  table.add("Floor", rules::step);
  table.add("Ceil", rules::step);
  table.add("Round", rules::step);
  table.add("Sign", rules::step);
  table.add("Clip", rules::clip);
}

}  // namespace gradient_rules::elementwise_unary

}  // namespace driftscope
