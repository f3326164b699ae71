// Our own operator (core/convert/tf/half.hpp): the float16 number that is nearest, as float32. Formulas:
// Veltkamp's splitting leaves the 11 digits that float16 has, a tie becoming even (checked for all 2²³
// fractions); below its smallest normal number, 2⁻¹⁴, the sum with 0.75 leaves multiples of 2⁻²⁴; from 65520
// on it is infinite.
#include <limits>

#include "core/convert/tf/elementwise.hpp"
#include "core/convert/tf/half.hpp"

namespace driftscope::tf::operators::round_to_float16 {
namespace {

Status lower(Lowering& lowering, const OnnxNode& node) {
  DRIFTSCOPE_TRY(const Operands operand, read_operand(lowering, node));
  const std::string& x = operand.tensors[0];
  const auto make = [&](std::string_view suffix, std::string_view op, const std::string& a, double b) {
    return lowering.elementwise(suffix, op, {a, lowering.number(b)},
                                op == "Less" || op == "GreaterEqual" ? DType::boolean : DType::float32);
  };
  const std::string size = lowering.elementwise("size", "Abs", {x});
  const std::string spread = make("spread", "Mul", x, 0x1p13 + 1.0);
  const std::string rest = lowering.elementwise("rest", "Sub", {x, spread});
  const std::string normal = lowering.elementwise("normal", "AddV2", {spread, rest});
  const std::string tiny = make("tiny", "Sub", make("raised", "AddV2", x, 0.75), 0.75);
  const std::string is_tiny = make("is_tiny", "Less", size, 0x1p-14);
  const std::string finite =
      lowering.elementwise("finite", "SelectV2", {is_tiny, tiny, normal}, DType::float32);
  const std::string is_beyond = make("is_beyond", "GreaterEqual", size, 65520.0);
  const std::string infinite = make("infinite", "Mul", x, std::numeric_limits<double>::infinity());
  return give_elementwise(lowering, node, "SelectV2", operand.order, {is_beyond, infinite, finite});
}

}  // namespace

void add_to(OperatorTable& table) { table.add(tf::round_to_float16, lower, Prefers::any); }

}  // namespace driftscope::tf::operators::round_to_float16
