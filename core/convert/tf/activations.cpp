#include "core/convert/tf/activations.hpp"

namespace driftscope::tf {
namespace {

std::string line(Lowering& lowering, const std::string& x, float factor, float offset) {
  const std::string scaled =
      lowering.elementwise("scaled", "Mul", {x, lowering.number(static_cast<double>(factor))});
  return lowering.elementwise("shifted", "AddV2", {scaled, lowering.number(static_cast<double>(offset))});
}

}  // namespace

std::string clipped(Lowering& lowering, const std::string& x, float low, float high) {
  const std::string above =
      lowering.elementwise("at_least", "Maximum", {x, lowering.number(static_cast<double>(low))});
  return lowering.elementwise("at_most", "Minimum", {above, lowering.number(static_cast<double>(high))});
}

std::string activated(Lowering& lowering, const Activation& f, const std::string& x) {
  using Kind = Activation::Kind;
  const auto one_node = [&](std::string_view op) { return lowering.elementwise("activated", op, {x}); };
  const auto alpha = [&] { return lowering.number(static_cast<double>(f.alpha)); };
  switch (f.kind) {
    case Kind::relu: return one_node("Relu");
    case Kind::tanh: return one_node("Tanh");
    case Kind::sigmoid: return one_node("Sigmoid");
    case Kind::softplus: return one_node("Softplus");
    case Kind::affine: return line(lowering, x, f.alpha, f.beta);
    case Kind::hard_sigmoid: return clipped(lowering, line(lowering, x, f.alpha, f.beta), 0.0f, 1.0f);
    case Kind::scaled_tanh: {
      const std::string scaled =
          lowering.elementwise("argument", "Mul", {x, lowering.number(static_cast<double>(f.beta))});
      const std::string value = lowering.elementwise("value", "Tanh", {scaled});
      return lowering.elementwise("activated", "Mul", {value, alpha()});
    }
    case Kind::softsign: {
      const std::string size = lowering.elementwise("size", "Abs", {x});
      const std::string divisor = lowering.elementwise("divisor", "AddV2", {size, lowering.number(1)});
      return lowering.elementwise("activated", "RealDiv", {x, divisor});
    }
    case Kind::leaky_relu: {
      const std::string below =
          lowering.elementwise("is_negative", "Less", {x, lowering.number(0)}, DType::boolean);
      const std::string scaled = lowering.elementwise("negative", "Mul", {x, alpha()});
      return lowering.elementwise("activated", "SelectV2", {below, scaled, x}, DType::float32);
    }
    case Kind::elu: {
      const std::string value = lowering.elementwise("value", "Elu", {x});
      if (f.alpha == 1.0f) return value;
      const std::string below =
          lowering.elementwise("is_negative", "Less", {value, lowering.number(0)}, DType::boolean);
      const std::string scaled = lowering.elementwise("negative", "Mul", {value, alpha()});
      return lowering.elementwise("activated", "SelectV2", {below, scaled, value}, DType::float32);
    }
    case Kind::thresholded_relu: {
      const std::string above = lowering.elementwise("is_above", "Greater", {x, alpha()}, DType::boolean);
      return lowering.elementwise("activated", "SelectV2", {above, x, lowering.number(0)}, DType::float32);
    }
  }
  return x;
}

}  // namespace driftscope::tf
