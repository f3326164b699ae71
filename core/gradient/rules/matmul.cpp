// dA = dY·Bᵀ, dB = Aᵀ·dY, summed over broadcast axes; a vector counts as a row or a column (numpy.matmul).
// Gemm: Y = α·A′·B′ + β·C.
#include "core/gradient/rule.hpp"

namespace driftscope {
namespace gradient_matmul {
namespace {

std::string transposed(GradientEmitter& emit, const std::string& x, std::size_t rank) {
  Ints order;
  for (std::size_t i = 0; i + 2 < rank; ++i) order.push_back(static_cast<std::int64_t>(i));
  order.push_back(static_cast<std::int64_t>(rank) - 1);
  order.push_back(static_cast<std::int64_t>(rank) - 2);
  return emit.transpose(x, order);
}

SymbolicShape with_last(const SymbolicShape& batch, const Dimension& rows, const Dimension& columns) {
  SymbolicShape all(batch.begin(), batch.end() - 2);
  all.push_back(rows);
  all.push_back(columns);
  return all;
}

Status matmul(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(SymbolicShape a, at.sizes(at.input(0)));
  DRIFTSCOPE_TRY(SymbolicShape b, at.sizes(at.input(1)));
  DRIFTSCOPE_TRY(SymbolicShape y, at.sizes(at.output()));
  const bool row = a.size() == 1;
  const bool column = b.size() == 1;
  std::string a_name = at.x(0);
  std::string b_name = at.x(1);
  std::string dy = at.dy();
  const Dimension one{1, ""};
  if (column) {
    b_name = emit.unsqueeze(b_name, {1});
    dy = emit.unsqueeze(dy, {-1});
    b.push_back(one);
    y.push_back(one);
  }
  if (row) {
    a_name = emit.unsqueeze(a_name, {0});
    dy = emit.unsqueeze(dy, {-2});
    a.insert(a.begin(), one);
    y.insert(y.end() - 1, one);
  }
  if (at.wanted(0)) {
    const std::string product = emit.matmul(dy, transposed(emit, b_name, b.size()));
    const SymbolicShape sizes = with_last(y, a[a.size() - 2], a.back());
    DRIFTSCOPE_TRY(const std::string sum, at.sum_to(product, sizes, a, &b));
    at.add(0, row ? emit.squeeze(sum, {0}) : sum);
  }
  if (at.wanted(1)) {
    const std::string product = emit.matmul(transposed(emit, a_name, a.size()), dy);
    const SymbolicShape sizes = with_last(y, b[b.size() - 2], b.back());
    DRIFTSCOPE_TRY(const std::string sum, at.sum_to(product, sizes, b, &a));
    at.add(1, column ? emit.squeeze(sum, {1}) : sum);
  }
  return {};
}

Status gemm(NodeGradient& at) {
  GradientEmitter& emit = at.emit();
  DRIFTSCOPE_TRY(const bool a_turned, flag_attribute(at.node(), "transA", false));
  DRIFTSCOPE_TRY(const bool b_turned, flag_attribute(at.node(), "transB", false));
  DRIFTSCOPE_TRY(const float alpha, float_attribute(at.node(), "alpha", 1.0f));
  DRIFTSCOPE_TRY(const float beta, float_attribute(at.node(), "beta", 1.0f));
  const auto product = [&](const std::string& a, bool turn_a, const std::string& b, bool turn_b) {
    return emit.node("Gemm", {a, b},
                     {{"alpha", alpha},
                      {"transA", std::int64_t{turn_a ? 1 : 0}},
                      {"transB", std::int64_t{turn_b ? 1 : 0}}});
  };
  const std::string a = at.x(0);
  const std::string b = at.x(1);
  const std::string dy = at.dy();
  if (at.wanted(0)) at.add(0, a_turned ? product(b, b_turned, dy, true) : product(dy, false, b, !b_turned));
  if (at.wanted(1)) at.add(1, b_turned ? product(dy, true, a, a_turned) : product(a, !a_turned, dy, false));
  if (at.wanted(2)) {
    const std::string scaled =
        beta == 1.0f ? dy : emit.mul(dy, emit.scalar(static_cast<double>(beta), at.dtype()));
    DRIFTSCOPE_CHECK(at.add_broadcast(2, scaled));
  }
  return {};
}

}  // namespace
}  // namespace gradient_matmul

namespace gradient_rules::matmul {

void add_to(GradientRuleTable& table) {
  table.add("MatMul", gradient_matmul::matmul);
  table.add("Gemm", gradient_matmul::gemm);
}

}  // namespace gradient_rules::matmul

}  // namespace driftscope
