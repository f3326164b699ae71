// Softmax and its kin over any axis.
#include "core/hunt/draws.hpp"
#include "core/hunt/operator.hpp"

namespace driftscope::hunt_operators::softmax {

void add_to(hunt::OperatorTable& table) {
  table.add({.order = 80, .name = "softmax", .weight = 3, .append = [](hunt::Draft& draft) {
               const hunt::DraftValue x = draft.operand(1, 5);
               std::vector<Attribute> attributes;
               if (!hunt::happens(draft.rng(), 4))
                 attributes.push_back({"axis", hunt::draw_axis(draft.rng(), x.shape.size())});
               return draft.node(hunt::one_of(draft.rng(), {"Softmax", "Softmax", "LogSoftmax", "Hardmax"}),
                                 {x.name}, attributes);
             }});
}

}  // namespace driftscope::hunt_operators::softmax
