// Operators of one or two values, element by element, whose options are empty or say only that no activation
// is fused.
#include <fmt/format.h>

#include "core/convert/tflite/builder.hpp"
#include "core/convert/tflite/operator_table.hpp"

namespace driftscope::tflite::operators::elementwise {
namespace {

using Code = fb::BuiltinOperator;

// Integers of 8 and 16 bits are there as quantized values alone: kernels do not check that, and abort.
Status check_types(const Builder& builder, const tf::Node& node, bool floats_only) {
  for (const std::string& value : node.inputs) {
    const tf::TensorInfo& info = builder.info(value);
    if (!info.quantization.scales.empty() || info.dtype == DType::float32) continue;
    const bool fits =
        info.dtype == DType::int32 || info.dtype == DType::int64 || info.dtype == DType::boolean;
    if (floats_only || !fits)
      return unsupported(
          fmt::format("{} of {}, which is not quantized ('{}')", node.op, dtype_name(info.dtype), value));
  }
  return {};
}

template <Code code>
Status of_floats(Builder& builder, const tf::Node& node) {
  DRIFTSCOPE_CHECK(check_types(builder, node, true));
  builder.add(node, code);
  return {};
}

template <Code code, class T>
Status of_floats(Builder& builder, const tf::Node& node) {
  DRIFTSCOPE_CHECK(check_types(builder, node, true));
  builder.add(node, code, builder.default_options<T>());
  return {};
}

template <Code code, class T>
Status with(Builder& builder, const tf::Node& node) {
  DRIFTSCOPE_CHECK(check_types(builder, node, false));
  builder.add(node, code, builder.default_options<T>());
  return {};
}

}  // namespace

void add_to(OperatorTable& table) {
  table["Abs"] = with<Code::ABS, fb::AbsOptions>;
  table["Ceil"] = of_floats<Code::CEIL>;
  table["Cos"] = of_floats<Code::COS, fb::CosOptions>;
  table["Elu"] = of_floats<Code::ELU>;
  table["Exp"] = of_floats<Code::EXP, fb::ExpOptions>;
  table["Floor"] = of_floats<Code::FLOOR>;
  table["Log"] = of_floats<Code::LOG>;
  table["LogicalNot"] = with<Code::LOGICAL_NOT, fb::LogicalNotOptions>;
  table["Neg"] = with<Code::NEG, fb::NegOptions>;
  table["Relu"] = of_floats<Code::RELU>;
  table["Relu6"] = of_floats<Code::RELU6>;
  table["Round"] = of_floats<Code::ROUND>;
  table["Rsqrt"] = of_floats<Code::RSQRT>;
  table["Sigmoid"] = of_floats<Code::LOGISTIC>;
  table["Sign"] = with<Code::SIGN, fb::SignOptions>;
  table["Sin"] = of_floats<Code::SIN>;
  table["Sqrt"] = of_floats<Code::SQRT>;
  table["Square"] = of_floats<Code::SQUARE, fb::SquareOptions>;
  table["Tanh"] = of_floats<Code::TANH>;
  table["ZerosLike"] = with<Code::ZEROS_LIKE, fb::ZerosLikeOptions>;

  for (const char* name : {"Add", "AddV2", "BiasAdd"}) table[name] = with<Code::ADD, fb::AddOptions>;
  for (const char* name : {"Div", "RealDiv"}) table[name] = with<Code::DIV, fb::DivOptions>;
  table["Sub"] = with<Code::SUB, fb::SubOptions>;
  table["Mul"] = with<Code::MUL, fb::MulOptions>;
  table["AddN"] = with<Code::ADD_N, fb::AddNOptions>;
  table["Atan2"] = with<Code::ATAN2, fb::ATan2Options>;
  table["FloorDiv"] = with<Code::FLOOR_DIV, fb::FloorDivOptions>;
  table["FloorMod"] = with<Code::FLOOR_MOD, fb::FloorModOptions>;
  table["Maximum"] = with<Code::MAXIMUM, fb::MaximumMinimumOptions>;
  table["Minimum"] = with<Code::MINIMUM, fb::MaximumMinimumOptions>;
  table["Pow"] = with<Code::POW, fb::PowOptions>;
  table["Prelu"] = of_floats<Code::PRELU>;
  table["SquaredDifference"] = with<Code::SQUARED_DIFFERENCE, fb::SquaredDifferenceOptions>;

  table["Equal"] = with<Code::EQUAL, fb::EqualOptions>;
  table["NotEqual"] = with<Code::NOT_EQUAL, fb::NotEqualOptions>;
  table["Less"] = with<Code::LESS, fb::LessOptions>;
  table["LessEqual"] = with<Code::LESS_EQUAL, fb::LessEqualOptions>;
  table["Greater"] = with<Code::GREATER, fb::GreaterOptions>;
  table["GreaterEqual"] = with<Code::GREATER_EQUAL, fb::GreaterEqualOptions>;
  table["LogicalAnd"] = with<Code::LOGICAL_AND, fb::LogicalAndOptions>;
  table["LogicalOr"] = with<Code::LOGICAL_OR, fb::LogicalOrOptions>;
  table["Select"] = with<Code::SELECT, fb::SelectOptions>;
  table["SelectV2"] = with<Code::SELECT_V2, fb::SelectV2Options>;
}

}  // namespace driftscope::tflite::operators::elementwise
