#include "core/ops/shared/scatter.hpp"

#include <fmt/format.h>

#include "core/graph/attributes.hpp"

namespace driftscope {

Result<Reduction> read_reduction(const Node& node) {
  DRIFTSCOPE_TRY(const std::string text, string_attribute(node, "reduction", "none"));
  if (text == "none") return Reduction::none;
  if (text == "add" && node.opset >= 16) return Reduction::add;
  if (text == "mul" && node.opset >= 16) return Reduction::mul;
  if (text == "max" && node.opset >= 18) return Reduction::max;
  if (text == "min" && node.opset >= 18) return Reduction::min;
  return bad_input(
      fmt::format("attribute reduction: expected none, add or mul (from opset 16), max "
                  "or min (from opset 18), got '{}'",
                  text));
}

}  // namespace driftscope
