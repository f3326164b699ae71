// LSTM, GRU and RNN in all directions, with and without what may be left out.
#include <cmath>

#include "core/hunt/draws.hpp"
#include "core/hunt/operator.hpp"

namespace driftscope::hunt_operators::recurrent {
namespace {

using namespace hunt;

bool append(Draft& draft) {
  Rng& rng = draft.rng();
  const std::string op = one_of(rng, {"LSTM", "GRU", "RNN"});
  const std::int64_t gates = op == "LSTM" ? 4 : op == "GRU" ? 3 : 1;
  const std::int64_t steps = between(rng, 1, 9), batch = between(rng, 1, 3);
  const std::int64_t features = draw_channels(rng), hidden = draw_channels(rng);
  const std::string direction = one_of(rng, {"forward", "forward", "reverse", "bidirectional"});
  const std::int64_t directions = direction == "bidirectional" ? 2 : 1;
  const double scale = 1.0 / std::sqrt(static_cast<double>(hidden));
  std::vector<std::string> inputs = {draft.input({steps, batch, features}).name,
                                     draft.weight({directions, gates * hidden, features}, scale).name,
                                     draft.weight({directions, gates * hidden, hidden}, scale).name,
                                     "",
                                     "",
                                     ""};
  if (!happens(rng, 3)) inputs[3] = draft.weight({directions, 2 * gates * hidden}, 0.5).name;
  if (happens(rng, 4)) inputs[4] = draft.whole_numbers({batch}, 1, steps, DType::int32).name;
  if (happens(rng, 2)) inputs[5] = draft.weight({directions, batch, hidden}).name;
  if (op == "LSTM" && happens(rng, 2)) inputs.push_back(draft.weight({directions, batch, hidden}).name);
  while (inputs.back().empty()) inputs.pop_back();
  std::vector<Attribute> attributes = {{"hidden_size", hidden}, {"direction", direction}};
  if (op == "GRU" && happens(rng, 2)) attributes.push_back({"linear_before_reset", std::int64_t{1}});
  return draft.node(op, inputs, attributes, op == "LSTM" ? 3 : 2);
}

}  // namespace

void add_to(hunt::OperatorTable& table) {
  table.add({.order = 150, .name = "recurrent", .weight = 3, .append = append});
}

}  // namespace driftscope::hunt_operators::recurrent
