// Means and variances, given or computed.
#include "core/hunt/draws.hpp"
#include "core/hunt/operator.hpp"

namespace driftscope::hunt_operators::normalizations {
namespace {

using namespace hunt;

Attribute drawn_epsilon(Rng& rng) { return {"epsilon", one_of(rng, {1e-5f, 1e-3f, 1e-12f, 0.1f})}; }

bool by_layer(Draft& draft) {
  Rng& rng = draft.rng();
  const DraftValue x = draft.operand(1, 4);
  const std::int64_t axis = draw_axis(rng, x.shape.size());
  const auto first = static_cast<std::ptrdiff_t>(axis < 0 ? axis + x.rank() : axis);
  const Shape normalized(x.shape.begin() + first, x.shape.end());
  if (element_count(normalized) > most_elements) return false;
  std::vector<std::string> inputs = {x.name, draft.weight(normalized, 0.3, 1.0).name};
  if (happens(rng, 2)) inputs.push_back(draft.weight(normalized).name);
  return draft.node("LayerNormalization", inputs, {{"axis", axis}, drawn_epsilon(rng)});
}

bool by_window(Draft& draft, const DraftValue& x) {
  Rng& rng = draft.rng();
  std::vector<Attribute> attributes = {{"size", one_of<std::int64_t>(rng, {1, 3, 5, 7})}};
  if (happens(rng, 2)) attributes.push_back({"alpha", rng.uniform(0.0f, 1.0f)});
  if (happens(rng, 2)) attributes.push_back({"beta", rng.uniform(0.25f, 1.5f)});
  if (happens(rng, 2)) attributes.push_back({"bias", rng.uniform(0.5f, 2.0f)});
  return draft.node("LRN", {x.name}, attributes);
}

bool append(Draft& draft) {
  Rng& rng = draft.rng();
  if (happens(rng, 3)) return by_layer(draft);
  const DraftValue x = draft.operand(one_of(rng, {2, 3, 4, 4, 5}));
  const std::int64_t channels = x.size(1);
  if (channels > most_elements) return false;
  const std::string scale = draft.weight({channels}, 0.3, 1.0).name, shift = draft.weight({channels}).name;
  switch (rng.below(6)) {
    case 0: return by_window(draft, x);
    case 1:
      if (x.rank() < 3) return false;
      return draft.node("InstanceNormalization", {x.name, scale, shift}, {drawn_epsilon(rng)});
    case 2:
      return draft.node("GroupNormalization", {x.name, scale, shift},
                        {{"num_groups", draw_divisor(rng, channels)}, drawn_epsilon(rng)});
    case 3:
      return draft.node("LpNormalization", {x.name},
                        {{"axis", draw_axis(rng, x.shape.size())}, {"p", between(rng, 1, 2)}});
    case 4: {
      std::vector<Attribute> attributes;
      if (happens(rng, 2)) attributes.push_back({"axes", draw_axes(rng, x.shape.size())});
      return draft.node("MeanVarianceNormalization", {x.name}, attributes);
    }
    default: break;
  }
  const std::string mean = draft.weight({channels}).name;
  // Variances are positive: 0.01 and up.
  Rng numbers(rng.next());
  std::vector<float> variances;
  for (std::int64_t i = 0; i < channels; ++i) variances.push_back(numbers.uniform(0.01f, 2.0f));
  return draft.node("BatchNormalization", {x.name, scale, shift, mean, draft.constant(variances).name},
                    {drawn_epsilon(rng)});
}

}  // namespace

void add_to(hunt::OperatorTable& table) {
  table.add({.order = 100, .name = "normalizations", .weight = 5, .append = append});
}

}  // namespace driftscope::hunt_operators::normalizations
