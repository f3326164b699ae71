// Operators of one or two values, element by element, whose options are empty or say only that no activation is
// fused.
#include "core/convert/tflite/builder.hpp"
#include "core/convert/tflite/operator_table.hpp"

namespace driftscope::tflite::operators::elementwise {
namespace {

using Code = fb::BuiltinOperator;

template <Code code>
Status plain(Builder& builder, const tf::Node& node) {
  builder.add(node, code);
  return {};
}

template <Code code, class T>
Status with(Builder& builder, const tf::Node& node) {
  builder.add(node, code, builder.default_options<T>());
  return {};
}

}  // namespace

void add_to(OperatorTable& table) {
  table["Abs"] = with<Code::ABS, fb::AbsOptions>;
  table["Ceil"] = plain<Code::CEIL>;
  table["Cos"] = with<Code::COS, fb::CosOptions>;
  table["Elu"] = plain<Code::ELU>;
  table["Exp"] = with<Code::EXP, fb::ExpOptions>;
  table["Floor"] = plain<Code::FLOOR>;
  table["Log"] = plain<Code::LOG>;
  table["LogicalNot"] = with<Code::LOGICAL_NOT, fb::LogicalNotOptions>;
  table["Neg"] = with<Code::NEG, fb::NegOptions>;
  table["Relu"] = plain<Code::RELU>;
  table["Relu6"] = plain<Code::RELU6>;
  table["Round"] = plain<Code::ROUND>;
  table["Rsqrt"] = plain<Code::RSQRT>;
  table["Sigmoid"] = plain<Code::LOGISTIC>;
  table["Sign"] = with<Code::SIGN, fb::SignOptions>;
  table["Sin"] = plain<Code::SIN>;
  table["Sqrt"] = plain<Code::SQRT>;
  table["Square"] = with<Code::SQUARE, fb::SquareOptions>;
  table["Tanh"] = plain<Code::TANH>;
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
  table["Prelu"] = plain<Code::PRELU>;
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
