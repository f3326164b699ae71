// com.microsoft MatMulNBits with constant weights and few rows (nbits_product.hpp): what is read of the
// weights takes the time. More rows are multiplied by the strict engine's kernel, which decodes each weight
// once.
#include <new>
#include <optional>
#include <utility>

#include "core/engines/fast/kernel_step.hpp"
#include "core/engines/fast/nbits_product.hpp"

namespace driftscope::fast::matmul_nbits {

constexpr std::int64_t max_rows = 16;  // at 32 the strict kernel is as fast

// Zero points of another middle than 2^(bits−1) are given apart.
bool in_the_middle(const NBitsLayout& layout, const NBitsWeights& weights, const Tensor* zeros) {
  if (zeros == nullptr) return true;
  const auto middle = static_cast<float>(std::int64_t{1} << (layout.bits - 1));
  for (std::int64_t n = 0; n < layout.columns; ++n)
    for (std::int64_t block = 0; block < layout.blocks(); ++block)
      if (weights.zero(block, n) != middle) return false;
  return true;
}

Result<bool> lower(Lowering& lowering, const Node& node) {
  const auto layout = read_nbits_layout(node);
  const auto given = [&](std::size_t i) {
    return lowering.has_input(node, i) ? lowering.constant(node.inputs[i]) : nullptr;
  };
  if (!layout.ok() || !lowering.is_float(node.inputs[0]) || !lowering.is_float(node.outputs[0])) return false;
  for (const std::size_t i : {1u, 2u, 3u, 4u, 5u})
    if (lowering.has_input(node, i) && given(i) == nullptr) return false;
  const Tensor* const zeros = given(3);
  const Tensor* const bias = given(5);
  for (const Tensor* floats : {given(2), bias})
    if (floats != nullptr && floats->dtype() != DType::float32) return false;
  if (zeros != nullptr && zeros->dtype() != DType::uint8 && zeros->dtype() != DType::float32) return false;
  auto groups = nbits_groups(given(4), *layout);
  const std::int64_t rows = element_count(lowering.shape(node.outputs[0])) / layout->columns;
  if (!groups.ok() || rows > max_rows || !are_blocks(*groups, *layout)) return false;

  const NBitsWeights weights(*layout, *std::move(groups), *given(1), *given(2), zeros);
  const std::int64_t work = rows * layout->depth * layout->columns;
  const std::int64_t threads = lowering.pool_for(work) == nullptr ? 1 : lowering.threads().size();
  std::optional<NBitsProduct> product;
  try {
    product.emplace(*layout, weights, in_the_middle(*layout, weights, zeros),
                    bias == nullptr ? nullptr : bias->values<float>().data(), nbits_kernels(lowering.simd()),
                    rows, lowering.threads(), threads);
  } catch (const std::bad_alloc&) {
    return false;
  }
  DRIFTSCOPE_TRY(const BufferId in, lowering.read(node.inputs[0], {}));
  const BufferId out = lowering.write(node.outputs[0], {});
  const auto scratch = static_cast<std::size_t>(product->scratch());
  emit_kernel<float>(
      lowering, in, out, scratch,
      [product = *std::move(product)](const float* a, float* y, float* space) { product.run(a, y, space); });
  return true;
}

void add_to(FastOperatorTable& table) { table.add("com.microsoft.MatMulNBits", lower); }

}  // namespace driftscope::fast::matmul_nbits
