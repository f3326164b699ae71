// OneHot: its two values get the sums of dy where they stand. Indices and depth have no gradient.
#include <array>

#include "core/gradient/rule.hpp"

namespace driftscope {
namespace gradient_one_hot {
namespace {

Status one_hot(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(const std::int64_t axis, int_attribute(at.node(), "axis", -1));
  std::vector<std::string> sums;
  for (const std::array<double, 2>& off_and_on : {std::array{1.0, 0.0}, std::array{0.0, 1.0}}) {
    const std::string where =
        emit.node("OneHot", {at.x(0), at.x(1), emit.numbers(off_and_on, {2}, at.dtype())}, {{"axis", axis}});
    sums.push_back(emit.reduce("ReduceSum", emit.reshape(emit.mul(where, at.dy()), {-1}), {0}, true));
  }
  at.add(2, emit.concat(sums, 0));
  return {};
}

}  // namespace
}  // namespace gradient_one_hot

namespace gradient_rules::one_hot {

void add_to(GradientRuleTable& table) { table.add("OneHot", gradient_one_hot::one_hot); }

}  // namespace gradient_rules::one_hot

}  // namespace driftscope
