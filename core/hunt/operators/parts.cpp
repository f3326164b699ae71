// Parts of tensors: slices with negative steps, splits, elements by number, and writing them.
#include <algorithm>

#include "core/hunt/draws.hpp"
#include "core/hunt/operator.hpp"

namespace driftscope::hunt_operators::parts {
namespace {

using namespace hunt;

bool slice(Draft& draft, const DraftValue& x) {
  Rng& rng = draft.rng();
  std::vector<std::int64_t> starts, ends, steps;
  const std::vector<std::int64_t> axes = draw_axes(rng, x.shape.size());
  for (const std::int64_t axis : axes) {
    const std::int64_t size = x.size(static_cast<std::size_t>(axis < 0 ? axis + x.rank() : axis));
    const bool back = happens(rng, 3);
    std::int64_t first = between(rng, 0, size - 1), last = between(rng, 0, size - 1);
    if (back == (first < last)) std::swap(first, last);
    steps.push_back((back ? -1 : 1) * between(rng, 1, 3));
    starts.push_back(happens(rng, 3) ? first - size : first);
    if (back)
      ends.push_back(last > 0 ? last - 1 : -size - 1);
    else
      ends.push_back(happens(rng, 4) ? size + 1000 : last + 1);
  }
  return draft.node("Slice", {x.name, draft.constant(starts).name, draft.constant(ends).name,
                              draft.constant(axes).name, draft.constant(steps).name});
}

bool gather(Draft& draft, const DraftValue& x) {
  Rng& rng = draft.rng();
  const std::int64_t axis = draw_axis(rng, x.shape.size());
  const std::int64_t size = x.size(static_cast<std::size_t>(axis < 0 ? axis + x.rank() : axis));
  if (happens(rng, 3)) {
    Shape shape = x.shape;
    for (std::int64_t& one : shape) one = between(rng, 1, one);
    const DraftValue places = draft.whole_numbers(shape, -size, size - 1);
    return draft.node("GatherElements", {x.name, places.name}, {{"axis", axis}});
  }
  const Shape shape = draw_shape(rng, static_cast<int>(between(rng, 0, 2)));
  const DType dtype = happens(rng, 3) ? DType::int32 : DType::int64;
  const DraftValue places = draft.whole_numbers(shape, -size, size - 1, dtype);
  return draft.node("Gather", {x.name, places.name}, {{"axis", axis}});
}

bool scatter(Draft& draft, const DraftValue& x) {
  Rng& rng = draft.rng();
  const std::int64_t axis = draw_axis(rng, x.shape.size());
  const std::int64_t size = x.size(static_cast<std::size_t>(axis < 0 ? axis + x.rank() : axis));
  // Each place once: which of two values is written last is not defined.
  Shape shape = x.shape;
  for (std::int64_t& one : shape) one = between(rng, 1, one);
  const auto along = static_cast<std::size_t>(axis < 0 ? axis + x.rank() : axis);
  shape[along] = 1;
  const DraftValue places = draft.whole_numbers(shape, -size, size - 1);
  return draft.node("ScatterElements", {x.name, places.name, draft.input(shape).name}, {{"axis", axis}});
}

bool split(Draft& draft, const DraftValue& x) {
  Rng& rng = draft.rng();
  const std::int64_t axis = draw_axis(rng, x.shape.size());
  const std::int64_t size = x.size(static_cast<std::size_t>(axis < 0 ? axis + x.rank() : axis));
  if (size < 2) return false;
  if (happens(rng, 2)) {
    const std::int64_t first = between(rng, 1, size - 1);
    return draft.node("Split", {x.name, draft.constant(std::vector{first, size - first}).name},
                      {{"axis", axis}}, 2);
  }
  return draft.node("Split", {x.name}, {{"axis", axis}, {"num_outputs", std::int64_t{2}}}, 2);
}

bool append(Draft& draft) {
  Rng& rng = draft.rng();
  const DraftValue x = draft.operand(1, 5, happens(rng, 8) ? DType::int32 : DType::float32);
  switch (rng.below(6)) {
    case 0: return gather(draft, x);
    case 1: return x.dtype == DType::float32 && scatter(draft, x);
    case 2: return split(draft, x);
    case 3: {
      std::vector<Attribute> upper;
      if (happens(rng, 2)) upper.push_back({"upper", std::int64_t{0}});
      const auto diagonal = static_cast<double>(between(rng, -3, 3));
      return x.rank() >= 2 &&
             draft.node("Trilu", {x.name, draft.scalar_of(DType::int64, diagonal).name}, upper);
    }
    default: return slice(draft, x);
  }
}

}  // namespace

void add_to(hunt::OperatorTable& table) {
  table.add({.order = 130, .name = "parts", .weight = 6, .append = append});
}

}  // namespace driftscope::hunt_operators::parts
