// Other orders and shapes of the same elements, copies of them, and several tensors in one.
#include <algorithm>

#include "core/hunt/draws.hpp"
#include "core/hunt/operator.hpp"

namespace driftscope::hunt_operators::layout {
namespace {

using namespace hunt;

bool reshape(Draft& draft, const DraftValue& x) {
  Rng& rng = draft.rng();
  std::int64_t left = element_count(x.shape);
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = between(rng, 1, 4); i > 1; --i) {
    sizes.push_back(draw_divisor(rng, left));
    left /= sizes.back();
  }
  sizes.push_back(left);
  if (happens(rng, 3)) sizes[rng.below(sizes.size())] = -1;
  return draft.node("Reshape", {x.name, draft.constant(sizes).name});
}

bool concatenate(Draft& draft, const DraftValue& x) {
  Rng& rng = draft.rng();
  const std::int64_t axis = draw_axis(rng, x.shape.size());
  std::vector<std::string> inputs = {x.name};
  for (std::int64_t i = between(rng, 1, 4); i > 0; --i) {
    Shape shape = x.shape;
    shape[static_cast<std::size_t>(axis < 0 ? axis + x.rank() : axis)] = draw_channels(rng);
    if (element_count(shape) > most_elements) return false;
    inputs.push_back(draft.input(shape).name);
  }
  return draft.node("Concat", inputs, {{"axis", axis}});
}

bool blocks(Draft& draft) {
  Rng& rng = draft.rng();
  const std::int64_t block = between(rng, 2, 3), channels = between(rng, 1, 5);
  const std::int64_t height = between(rng, 1, 9), width = between(rng, 1, 9);
  if (happens(rng, 2))
    return draft.node("SpaceToDepth", {draft.input({1, channels, height * block, width * block}).name},
                      {{"blocksize", block}});
  std::vector<Attribute> attributes = {{"blocksize", block}};
  if (happens(rng, 2)) attributes.push_back({"mode", std::string("CRD")});
  return draft.node("DepthToSpace", {draft.input({2, channels * block * block, height, width}).name},
                    attributes);
}

bool append(Draft& draft) {
  Rng& rng = draft.rng();
  const DraftValue x = draft.operand(1, 6);
  switch (rng.below(8)) {
    case 0: return reshape(draft, x);
    case 1: return concatenate(draft, x);
    case 2: return blocks(draft);
    case 3: {
      Shape wanted = x.shape;
      if (happens(rng, 2)) wanted.insert(wanted.begin(), between(rng, 1, 3));
      for (std::int64_t& size : wanted)
        size = size == 1 ? between(rng, 1, 5) : one_of<std::int64_t>(rng, {1, size});
      return draft.node("Expand", {x.name, draft.constant(wanted).name});
    }
    case 4: {
      std::vector<std::int64_t> times(x.shape.size());
      for (std::int64_t& one : times) one = between(rng, 1, 3);
      return draft.node("Tile", {x.name, draft.constant(times).name});
    }
    case 5:
      return draft.node("Flatten", {x.name}, {{"axis", between(rng, -std::int64_t{x.rank()}, x.rank())}});
    default: return draft.node("Transpose", {x.name}, {{"perm", draw_order(rng, x.shape.size())}});
  }
}

}  // namespace

void add_to(hunt::OperatorTable& table) {
  table.add({.order = 140, .name = "layout", .weight = 6, .append = append});
}

}  // namespace driftscope::hunt_operators::layout
