// Products of matrices: batches that broadcast, vectors, transposed operands, sums over named axes.
#include <cmath>

#include "core/hunt/draws.hpp"
#include "core/hunt/operator.hpp"

namespace driftscope::hunt_operators::products {
namespace {

using namespace hunt;

DraftValue other_operand(Draft& draft, const Shape& shape, std::int64_t terms) {
  if (happens(draft.rng(), 2)) return draft.input(shape);
  return draft.weight(shape, 1.0 / std::sqrt(static_cast<double>(terms)));
}

bool general_product(Draft& draft) {
  Rng& rng = draft.rng();
  const DraftValue a = draft.operand(2);
  const bool a_turned = happens(rng, 2), b_turned = happens(rng, 2);
  const std::int64_t rows = a.size(a_turned ? 1 : 0), terms = a.size(a_turned ? 0 : 1);
  const std::int64_t columns = draw_extent(rng);
  const DraftValue b = other_operand(draft, b_turned ? Shape{columns, terms} : Shape{terms, columns}, terms);
  std::vector<std::string> inputs = {a.name, b.name};
  if (!happens(rng, 3)) inputs.push_back(draft.weight(draw_broadcast(rng, {rows, columns})).name);
  std::vector<Attribute> attributes;
  if (a_turned) attributes.push_back({"transA", std::int64_t{1}});
  if (b_turned) attributes.push_back({"transB", std::int64_t{1}});
  if (happens(rng, 3)) attributes.push_back({"alpha", rng.uniform(-2.0f, 2.0f)});
  if (happens(rng, 3)) attributes.push_back({"beta", rng.uniform(-2.0f, 2.0f)});
  return draft.node("Gemm", inputs, attributes);
}

bool named_sums(Draft& draft) {
  Rng& rng = draft.rng();
  const std::int64_t i = draw_channels(rng), j = draw_extent(rng), k = draw_channels(rng),
                     b = between(rng, 1, 3);
  switch (rng.below(4)) {
    case 0:
      return draft.node("Einsum", {draft.input({b, i, j}).name, draft.input({b, k, j}).name},
                        {{"equation", std::string("bij,bkj->bik")}});
    case 1: return draft.node("Einsum", {draft.input({i, j}).name}, {{"equation", std::string("ij->ji")}});
    case 2:
      return draft.node("Einsum", {draft.input({b, i, k, j}).name, draft.input({b, i, k}).name},
                        {{"equation", std::string("bikj,bik->bij")}});
    default:
      return draft.node("Einsum", {draft.input({i, j}).name, draft.input({j}).name},
                        {{"equation", std::string("...j,j->...")}});
  }
}

bool append(Draft& draft) {
  Rng& rng = draft.rng();
  switch (rng.below(6)) {
    case 0:
    case 1: return general_product(draft);
    case 2: return named_sums(draft);
    default: break;
  }
  const DraftValue a = draft.operand(1, 5);
  const std::int64_t terms = a.shape.back();
  Shape shape;
  if (a.rank() > 2) shape = draw_broadcast(rng, Shape(a.shape.begin(), a.shape.end() - 2));
  shape.push_back(terms);
  if (!(shape.size() == 1 && happens(rng, 4))) shape.push_back(draw_extent(rng));
  if (element_count(shape) > most_elements) return false;
  return draft.node("MatMul", {a.name, other_operand(draft, shape, terms).name});
}

}  // namespace

void add_to(hunt::OperatorTable& table) {
  table.add({.order = 90, .name = "products", .weight = 6, .append = append});
}

}  // namespace driftscope::hunt_operators::products
