// The right elements in another shape: a reduction that leaves its axes out, or keeps them, against keepdims
// (seen in TensorFlow.js: Prod on WebGPU, docs/museum.md), or any other node.
// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/variant.hpp"

namespace driftscope::variants::other_shapes {
namespace {

Shape without_ones(Shape shape) {
  std::erase(shape, 1);
  return shape;
}

bool differs_in_ones(const Node&, const Shape& got, const Shape& right) {
  return without_ones(got) == without_ones(right);
}

bool any_shape(const Node&, const Shape&, const Shape&) { return true; }

}  // namespace

void add_to(VariantTable& table) {
  table.add(
      {.kind = VariantKind::faulty,
       .family = "attribute",
       .id = "keepdims",
       .name = "keepdims the other way",
       .operators = {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
                     "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare", "ArgMax", "ArgMin"},
       .order = 10,
       .takes_shape = differs_in_ones});
  table.add({.kind = VariantKind::faulty,
             .family = "execution",
             .id = "reshaped",
             .name = "the right elements in another shape",
             .any_operator = true,
             .order = 20,
             .takes_shape = any_shape});
}

}  // namespace driftscope::variants::other_shapes
