// Det: the derivative by an element is its cofactor, the signed determinant of the matrix without its row and
// column. ONNX has no inverse, and singular matrices have cofactors as well.
#include "core/gradient/rule.hpp"

namespace driftscope {
namespace gradient_det {
namespace {

constexpr std::int64_t max_size = 32;  // a matrix has n² minors of (n − 1)² elements

// Places in a matrix of n · n of the elements of each minor, [n², (n − 1)²].
Result<Tensor> minors(std::int64_t n) {
  Ints places;
  for (std::int64_t row = 0; row < n; ++row)
    for (std::int64_t column = 0; column < n; ++column)
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          if (i != row && j != column) places.push_back(i * n + j);
  return Tensor::from_values<std::int64_t>({n * n, (n - 1) * (n - 1)}, places);
}

Status det(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(const SymbolicShape sizes, at.sizes(at.input(0)));
  DRIFTSCOPE_TRY(const std::int64_t n, at.size(at.input(0), sizes.size() - 1));
  if (n > max_size) return at.unsupported_form("of matrices of more than 32 rows");
  if (n == 0) return at.add(0, emit.zeros_like(at.x(0), at.dtype())), Status();
  const std::string dy = emit.reshape(at.dy(), {-1, 1});
  std::string gradient = dy;
  if (n > 1) {
    DRIFTSCOPE_TRY(const Tensor places, minors(n));
    const std::string all = emit.node("Gather", {emit.reshape(at.x(0), {-1, n * n}), emit.constant(places)},
                                      {{"axis", std::int64_t{1}}});
    std::vector<double> signs;
    for (std::int64_t i = 0; i < n * n; ++i) signs.push_back((i / n + i % n) % 2 == 0 ? 1.0 : -1.0);
    const std::string determinants = emit.node("Det", {emit.reshape(all, {-1, n * n, n - 1, n - 1})});
    gradient = emit.mul(emit.mul(determinants, emit.numbers(signs, {n * n}, at.dtype())), dy);
  }
  at.add(0, emit.node("Reshape", {gradient, at.shape_of_input(0)}));
  return {};
}

}  // namespace
}  // namespace gradient_det

namespace gradient_rules::det {

void add_to(GradientRuleTable& table) { table.add("Det", gradient_det::det); }

}  // namespace gradient_rules::det

}  // namespace driftscope
