// Strassen's products of matrices (1969), one to three levels of halving: seven products of sums of blocks,
// so that an element has errors of the size of other rows and columns. Small matrices are never halved, so
// only long sums are tried.
// Compiled for size on the web (cmake/core.cmake).
#include <cmath>
#include <vector>

#include "core/graph/attributes.hpp"
#include "core/verify/lower_precision.hpp"
#include "core/verify/variant.hpp"

namespace driftscope::variants::strassen {
namespace {

/// Row by row.
struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<float> values;

  Matrix(std::size_t r, std::size_t c) : rows(r), columns(c), values(r * c, 0.0f) {}
  [[nodiscard]] float& at(std::size_t r, std::size_t c) { return values[r * columns + c]; }
  [[nodiscard]] float at(std::size_t r, std::size_t c) const { return values[r * columns + c]; }
};

Matrix quarter(const Matrix& m, std::size_t down, std::size_t across) {
  Matrix part(m.rows / 2, m.columns / 2);
  for (std::size_t r = 0; r < part.rows; ++r)
    for (std::size_t c = 0; c < part.columns; ++c)
      part.at(r, c) = m.at(down * part.rows + r, across * part.columns + c);
  return part;
}

Matrix sum(const Matrix& a, const Matrix& b, float sign = 1.0f) {
  Matrix result(a.rows, a.columns);
  for (std::size_t i = 0; i < result.values.size(); ++i) result.values[i] = a.values[i] + sign * b.values[i];
  return result;
}

Matrix plain_product(const Matrix& a, const Matrix& b) {
  Matrix y(a.rows, b.columns);
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t k = 0; k < a.columns; ++k) {
      const float x = a.at(i, k);
      for (std::size_t j = 0; j < b.columns; ++j) y.at(i, j) += x * b.at(k, j);
    }
  return y;
}

Matrix product(const Matrix& a, const Matrix& b, int levels) {
  if (levels == 0) return plain_product(a, b);
  const Matrix a11 = quarter(a, 0, 0), a12 = quarter(a, 0, 1), a21 = quarter(a, 1, 0), a22 = quarter(a, 1, 1);
  const Matrix b11 = quarter(b, 0, 0), b12 = quarter(b, 0, 1), b21 = quarter(b, 1, 0), b22 = quarter(b, 1, 1);
  const auto of = [&](const Matrix& left, const Matrix& right) { return product(left, right, levels - 1); };
  const Matrix m1 = of(sum(a11, a22), sum(b11, b22));
  const Matrix m2 = of(sum(a21, a22), b11);
  const Matrix m3 = of(a11, sum(b12, b22, -1.0f));
  const Matrix m4 = of(a22, sum(b21, b11, -1.0f));
  const Matrix m5 = of(sum(a11, a12), b22);
  const Matrix m6 = of(sum(a21, a11, -1.0f), sum(b11, b12));
  const Matrix m7 = of(sum(a12, a22, -1.0f), sum(b21, b22));
  Matrix y(a.rows, b.columns);
  const std::size_t rows = a.rows / 2;
  const std::size_t columns = b.columns / 2;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) {
      y.at(r, c) = ((m1.at(r, c) + m4.at(r, c)) - m5.at(r, c)) + m7.at(r, c);
      y.at(r, columns + c) = m3.at(r, c) + m5.at(r, c);
      y.at(rows + r, c) = m2.at(r, c) + m4.at(r, c);
      y.at(rows + r, columns + c) = ((m1.at(r, c) - m2.at(r, c)) + m3.at(r, c)) + m6.at(r, c);
    }
  return y;
}

// Zero padding at the end, so that the sizes can be halved.
Matrix padded(const Tensor& tensor, bool turned, std::size_t multiple) {
  const auto rows = static_cast<std::size_t>(tensor.shape()[turned ? 1 : 0]);
  const auto columns = static_cast<std::size_t>(tensor.shape()[turned ? 0 : 1]);
  const auto up = [&](std::size_t size) { return (size + multiple - 1) / multiple * multiple; };
  Matrix matrix(up(rows), up(columns));
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c)
      matrix.at(r, c) = tensor.values<float>()[turned ? c * rows + r : r * columns + c];
  return matrix;
}

template <int levels>
std::optional<Tensor> multiply(const Node& node, std::span<const Tensor* const> inputs,
                               ThreadPool& /*threads*/) {
  if (inputs.size() < 2 || inputs[0] == nullptr || inputs[1] == nullptr) return std::nullopt;
  for (const Tensor* input : inputs.first(2))
    if (input->dtype() != DType::float32 || input->shape().size() != 2) return std::nullopt;
  if (products_per_element(node, inputs[1]->shape()) < min_products) return std::nullopt;
  const auto left_turned = int_attribute(node, "transA", 0);
  const auto right_turned = int_attribute(node, "transB", 0);
  const auto alpha = float_attribute(node, "alpha", 1.0f);
  const bool biased = inputs.size() > 2 && inputs[2] != nullptr;
  if (!left_turned.ok() || !right_turned.ok() || !alpha.ok() || biased) return std::nullopt;
  const std::size_t multiple = std::size_t{1} << levels;
  const Matrix y = product(padded(*inputs[0], *left_turned != 0, multiple),
                           padded(*inputs[1], *right_turned != 0, multiple), levels);
  const std::int64_t rows = inputs[0]->shape()[*left_turned != 0 ? 1 : 0];
  const std::int64_t columns = inputs[1]->shape()[*right_turned != 0 ? 0 : 1];
  auto result = Tensor::make(DType::float32, {rows, columns});
  if (!result.ok()) return std::nullopt;
  const auto values = result->mutable_values<float>();
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = *alpha * y.at(i / static_cast<std::size_t>(columns), i % static_cast<std::size_t>(columns));
  return *std::move(result);
}

}  // namespace

void add_to(VariantTable& table) {
  const auto add = [&](std::string_view id, std::string_view name, auto witness) {
    table.add(
        {.family = "algorithm", .id = id, .name = name, .operators = {"MatMul", "Gemm"}, .witness = witness});
  };
  add("strassen-1", "Strassen's algorithm", multiply<1>);
  add("strassen-2", "Strassen's algorithm, two levels", multiply<2>);
  add("strassen-3", "Strassen's algorithm, three levels", multiply<3>);
}

}  // namespace driftscope::variants::strassen
