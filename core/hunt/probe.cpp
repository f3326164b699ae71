#include "core/hunt/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/hunt/draws.hpp"

namespace driftscope::hunt {
namespace {

const HuntOperator& draw_operator(Rng& rng, std::span<const std::string> families) {
  std::vector<const HuntOperator*> chosen;
  for (const HuntOperator& one : operator_table().all())
    if (families.empty() || std::ranges::find(families, one.name) != families.end()) chosen.push_back(&one);
  return by_weight(rng, chosen);
}

/// Outputs that nodes of the model read are no outputs of the model any more.
void keep_leaves(Model& model) {
  std::set<std::string> read;
  for (const ModelNode& node : model.graph.nodes) read.insert(node.inputs.begin(), node.inputs.end());
  std::erase_if(model.graph.outputs, [&](const ValueInfo& output) { return read.contains(output.name); });
}

std::string text_of(const Model& model, const Fill& fill) {
  std::string text;
  for (const ModelNode& node : model.graph.nodes) text += (text.empty() ? "" : " → ") + node.op_type;
  return fmt::format("{}, of {}", text, fill.name);
}

}  // namespace

void OperatorTable::add(const HuntOperator& one) {
  const auto place =
      std::ranges::upper_bound(operators_, std::pair(one.order, one.name), {},
                               [](const HuntOperator& other) { return std::pair(other.order, other.name); });
  operators_.insert(place, one);
}

Probe draw_probe(std::uint64_t seed, std::int64_t number) { return draw_probe(seed, number, {}); }

Probe draw_probe(std::uint64_t seed, std::int64_t number, std::span<const std::string> families) {
  Rng rng(seed);
  rng = Rng(rng.next() + static_cast<std::uint64_t>(number));
  const Fill& fill = draw_fill(rng);
  Draft draft(rng.next(), fill);
  const std::int64_t steps = happens(rng, 3) ? between(rng, 2, 6) : 1;
  constexpr int most_refused = 64;
  std::int64_t taken = 0;
  for (int refused = 0; taken < steps && refused < most_refused;) {
    Draft longer = draft;
    if (!draw_operator(rng, families).append(longer)) {
      ++refused;
      // What was refused is not drawn again.
      [[maybe_unused]] const std::uint64_t used = draft.rng().next();
      continue;
    }
    draft = std::move(longer);
    ++taken;
  }
  Probe probe{draft.model(), draft.inputs(), text_of(draft.model(), fill)};
  if (happens(rng, 3)) keep_leaves(probe.model);
  return probe;
}

}  // namespace driftscope::hunt
