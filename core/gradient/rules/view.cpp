// Operators that only give their input another shape, order or type.
#include "core/gradient/rule.hpp"

namespace driftscope {
namespace gradient_view {
namespace {

Status reshape(NodeGradient& at) {
  // With a single open size, which Reshape finds, nothing is read at run time.
  const auto& shape = at.input(0).shape;
  Ints sizes;
  if (shape)
    for (const Dimension& one : *shape) sizes.push_back(one.known() ? one.size : -1);
  if (shape && at.reshape_sizes(sizes).ok())
    at.add(0, at.emit().reshape(at.dy(), sizes));
  else
    at.add(0, at.emit().node("Reshape", {at.dy(), at.shape_of_input(0)}));
  return {};
}

Status identity(NodeGradient& at) {
  at.add(0, at.dy());
  return {};
}

Status dropout(NodeGradient& at) {
  if (at.has_input(2)) {
    DRIFTSCOPE_TRY(const auto training, at.constant(2));
    if (!training || training->elements() != 1 || training->bytes()[0] != std::byte{0})
      return at.unsupported_form("in training mode");
  }
  return identity(at);
}

Status transpose(NodeGradient& at) {
  DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.input(0)));
  Ints reversed(sizes.size());
  for (std::size_t i = 0; i < reversed.size(); ++i) reversed[i] = std::ssize(sizes) - 1 - static_cast<int>(i);
  DRIFTSCOPE_TRY(const Ints order, ints_attribute(at.node(), "perm", reversed));
  Ints back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  at.add(0, at.emit().transpose(at.dy(), back));
  return {};
}

Status cast(NodeGradient& at) {
  at.add(0, at.emit().cast(at.dy(), at.input(0).dtype));
  return {};
}

}  // namespace
}  // namespace gradient_view

namespace gradient_rules::view {

void add_to(GradientRuleTable& table) {
  namespace rules = gradient_view;
  for (const char* op : {"Reshape", "Flatten", "Squeeze", "Unsqueeze"}) table.add(op, rules::reshape);
  table.add("Identity", rules::identity);
  table.add("Dropout", rules::dropout);
  table.add("Transpose", rules::transpose);
  table.add("Cast", rules::cast);
  table.add("CastLike", rules::cast);
}

}  // namespace gradient_rules::view

}  // namespace driftscope
