// Rounding has no gradient. With --straight-through, QuantizeLinear → DequantizeLinear counts as the identity
// where nothing is clipped, which is how quantized models are trained (Jacob et al. 2018).
#include <algorithm>

#include "core/gradient/rule.hpp"

namespace driftscope {
namespace gradient_quantized {
namespace {

Error refused(NodeGradient& at) {
  return at.unsupported_form(
      at.straight_through()
          ? "of operators that compute with integers; use a model with QuantizeLinear and DequantizeLinear "
            "around float operators"
          : "through rounding to integers; with --straight-through, QuantizeLinear counts as the identity "
            "within its range");
}

Status refuse(NodeGradient& at) { return refused(at); }

// The gradient of an integer is that of the real number for which it stands.
Status dequantize(NodeGradient& at) {
  if (!at.straight_through()) return refused(at);
  if (at.wanted(1)) return at.unsupported_form("with respect to the scale");
  at.add(0, at.dy());
  return {};
}

struct IntegerRange {
  double low = 0.0;
  double high = 0.0;
};

Result<IntegerRange> range_of(NodeGradient& at, DType dtype) {
  switch (dtype) {
    case DType::uint4: return IntegerRange{0.0, 15.0};
    case DType::int4: return IntegerRange{-8.0, 7.0};
    case DType::uint8: return IntegerRange{0.0, 255.0};
    case DType::int8: return IntegerRange{-128.0, 127.0};
    case DType::uint16: return IntegerRange{0.0, 65535.0};
    case DType::int16: return IntegerRange{-32768.0, 32767.0};
    default: return at.unsupported_form("of this quantized type");
  }
}

Status quantize(NodeGradient& at) {
  if (!at.straight_through()) return refused(at);
  if (at.wanted(1)) return at.unsupported_form("with respect to the scale");
  GradientEmitter& emit = at.emit();
  const DType dtype = at.input(0).dtype;
  DRIFTSCOPE_TRY(const IntegerRange range, range_of(at, at.output().dtype));
  DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.input(0)));
  DRIFTSCOPE_TRY(const SymbolicShape scale_sizes, at.sizes(at.input(1)));
  DRIFTSCOPE_TRY(const std::int64_t block, int_attribute(at.node(), "block_size", 0));
  if (block != 0) return at.unsupported_form("of quantization in blocks");
  Ints others;
  if (scale_sizes.size() == 1 && scale_sizes[0].size != 1) {
    DRIFTSCOPE_TRY(const std::int64_t given, int_attribute(at.node(), "axis", 1));
    DRIFTSCOPE_TRY(const std::size_t axis, normalize_axis(given, sizes.size()));
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (i != axis) others.push_back(static_cast<std::int64_t>(i));
  }
  const std::string scale = emit.unsqueeze(at.x(1), others);
  const auto limit = [&](double integer) {
    std::string distance = emit.scalar(integer, dtype);
    if (at.has_input(2)) distance = emit.sub(distance, emit.unsqueeze(emit.cast(at.x(2), dtype), others));
    return emit.mul(distance, scale);
  };
  const std::string one = emit.scalar(1.0, dtype);
  const std::string above = emit.mask("Greater", {at.x(0), limit(range.high)}, dtype);
  const std::string below = emit.mask("Less", {at.x(0), limit(range.low)}, dtype);
  at.add(0, emit.mul(emit.mul(at.dy(), emit.sub(one, above)), emit.sub(one, below)));
  return {};
}

}  // namespace
}  // namespace gradient_quantized

namespace gradient_rules::quantized {

void add_to(GradientRuleTable& table) {
  table.add("QuantizeLinear", gradient_quantized::quantize);
  table.add("DequantizeLinear", gradient_quantized::dequantize);
  for (const char* op :
       {"QLinearConv", "QLinearMatMul", "MatMulInteger", "ConvInteger", "DynamicQuantizeLinear"})
    table.add(op, gradient_quantized::refuse);
}

}  // namespace gradient_rules::quantized

}  // namespace driftscope
