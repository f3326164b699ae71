// Activations with attributes or limits.
#include <algorithm>

#include "core/hunt/draws.hpp"
#include "core/hunt/operator.hpp"

namespace driftscope::hunt_operators::activations {
namespace {

using namespace hunt;

bool append(Draft& draft) {
  Rng& rng = draft.rng();
  const DraftValue x = draft.operand(0, 5);
  const std::string op = one_of(rng, {"LeakyRelu", "Elu", "Selu", "Celu", "HardSigmoid", "ThresholdedRelu",
                                      "Gelu", "Clip", "Clip", "Shrink"});
  std::vector<Attribute> attributes;
  if (op == "Clip") {
    const float a = rng.uniform(-3.0f, 3.0f), b = rng.uniform(-3.0f, 3.0f);
    std::vector<std::string> inputs = {x.name, "", ""};
    if (!happens(rng, 4)) inputs[1] = draft.scalar(std::min(a, b)).name;
    if (!happens(rng, 4)) inputs[2] = draft.scalar(std::max(a, b)).name;
    while (inputs.back().empty()) inputs.pop_back();
    return draft.node(op, inputs);
  }
  if (op == "Gelu") {
    if (happens(rng, 2)) attributes.push_back({"approximate", std::string("tanh")});
    return draft.node(op, {x.name}, attributes);
  }
  if (op == "Shrink") {
    attributes.push_back({"lambd", rng.uniform(0.0f, 2.0f)});
    attributes.push_back({"bias", rng.uniform(-1.0f, 1.0f)});
    return draft.node(op, {x.name}, attributes);
  }
  if (!happens(rng, 3)) attributes.push_back({"alpha", rng.uniform(0.01f, 2.0f)});
  if (op == "HardSigmoid" && happens(rng, 2)) attributes.push_back({"beta", rng.uniform(0.0f, 1.0f)});
  if (op == "Selu" && happens(rng, 2)) attributes.push_back({"gamma", rng.uniform(0.5f, 2.0f)});
  return draft.node(op, {x.name}, attributes);
}

}  // namespace

void add_to(hunt::OperatorTable& table) {
  table.add({.order = 60, .name = "activations", .weight = 4, .append = append});
}

}  // namespace driftscope::hunt_operators::activations
