// Pad in all its modes, some pads negative.
#include <algorithm>

#include "core/hunt/draws.hpp"
#include "core/hunt/operator.hpp"

namespace driftscope::hunt_operators::padding {
namespace {

using namespace hunt;

bool append(Draft& draft) {
  Rng& rng = draft.rng();
  const DraftValue x = draft.operand(1, 5);
  const std::string mode = one_of(rng, {"constant", "constant", "reflect", "edge", "wrap"});
  const auto rank = static_cast<std::size_t>(x.rank());
  std::vector<std::int64_t> pads(2 * rank);
  for (std::size_t i = 0; i < pads.size(); ++i) {
    const std::int64_t size = x.size(i % rank);
    const std::int64_t most = mode == "constant" || mode == "edge" ? 5 : std::min<std::int64_t>(size - 1, 5);
    if (happens(rng, 2)) pads[i] = between(rng, 0, std::max<std::int64_t>(most, 0));
    if (mode == "constant" && happens(rng, 12) && size > 3) pads[i] = -1;
  }
  std::vector<std::string> inputs = {x.name, draft.constant(pads).name};
  if (mode == "constant" && happens(rng, 2)) inputs.push_back(draft.scalar(rng.uniform(-2.0f, 2.0f)).name);
  return draft.node("Pad", inputs, {{"mode", mode}});
}

}  // namespace

void add_to(hunt::OperatorTable& table) {
  table.add({.order = 120, .name = "padding", .weight = 3, .append = append});
}

}  // namespace driftscope::hunt_operators::padding
