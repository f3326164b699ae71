// Products of factors split into two or three bfloat16 each (Henry, Tang and Heinecke 2019), as matrix units
// for bfloat16 compute float32: a₁·b₁ + (a₁·b₂ + a₂·b₁). The dropped terms, a₂·b₂ and smaller, are about 2⁻¹⁸
// of each product. For short sums the budgets allow as much, and nothing more must be excused.
// Compiled for size on the web (cmake/core.cmake).
#include <vector>

#include "core/eval/evaluate.hpp"
#include "core/verify/lower_precision.hpp"
#include "core/verify/narrow_factors.hpp"
#include "core/verify/variant.hpp"

namespace driftscope::variants::split_products {
namespace {

struct Split {
  Tensor high;
  Tensor low;
};

std::optional<Split> split(const Tensor& tensor) {
  auto high = Tensor::make(DType::float32, tensor.shape());
  auto low = Tensor::make(DType::float32, tensor.shape());
  if (!high.ok() || !low.ok()) return std::nullopt;
  const auto values = tensor.values<float>();
  const auto above = high->mutable_values<float>();
  const auto below = low->mutable_values<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    above[i] = rounded_to(NarrowFormat::bfloat16, values[i]);
    below[i] = rounded_to(NarrowFormat::bfloat16, values[i] - above[i]);
  }
  return Split{*std::move(high), *std::move(low)};
}

std::optional<Tensor> multiply(const Node& node, std::span<const Tensor* const> inputs, ThreadPool& threads) {
  if (inputs.size() < 2 || inputs[0] == nullptr || inputs[1] == nullptr) return std::nullopt;
  for (const Tensor* input : inputs)
    if (input != nullptr && input->dtype() != DType::float32) return std::nullopt;
  if (products_per_element(node, inputs[1]->shape()) < min_products) return std::nullopt;
  const auto a = split(*inputs[0]);
  const auto b = split(*inputs[1]);
  if (!a || !b) return std::nullopt;
  // The bias is added to one of the three.
  Node plain = node;
  plain.inputs.resize(2);
  const auto product = [&](const Node& of, const Tensor& left, const Tensor& right) {
    std::vector<const Tensor*> operands = {&left, &right};
    if (&of == &node) operands.insert(operands.end(), inputs.begin() + 2, inputs.end());
    return evaluate_strict(of, operands, threads);
  };
  auto crossed = product(plain, a->low, b->high);
  const auto other = product(plain, a->high, b->low);
  auto sum = product(node, a->high, b->high);
  if (!crossed.ok() || !other.ok() || !sum.ok()) return std::nullopt;
  const auto result = sum->front().mutable_values<float>();
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] += crossed->front().values<float>()[i] + other->front().values<float>()[i];
  return std::move(sum->front());
}

}  // namespace

void add_to(VariantTable& table) {
  table.add({.family = "algorithm",
             .id = "bf16x3",
             .name = "three products of bfloat16",
             .operators = {"MatMul", "Gemm", "Conv"},
             .witness = multiply});
}

}  // namespace driftscope::variants::split_products
