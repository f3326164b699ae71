// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/rounding_noise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/base/rng.hpp"

namespace driftscope {
namespace {

/// What the model allows the node alone; none where it cannot be computed.
std::vector<Evaluated<Bounded>> bounds_of(const Node& node, std::span<const Tensor* const> inputs,
                                          const ErrorModel& model, ThreadPool& threads) {
  std::vector<Evaluated<Bounded>> exact(inputs.size());
  std::vector<const Evaluated<Bounded>*> read(inputs.size(), nullptr);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    exact[i] = known<Bounded>(*inputs[i]);
    read[i] = &exact[i];
  }
  auto bounds = evaluate<Bounded>(node, read, threads, {.recorded = nullptr, .model = &model});
  return bounds.ok() ? *std::move(bounds) : std::vector<Evaluated<Bounded>>();
}

/// What may become anything becomes NaN, which says so in what is made of it.
void move_within(Tensor& tensor, std::span<const Bounded> bounds, std::uint64_t seed) {
  Rng rng(seed);
  const auto values = tensor.mutable_values<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float way = rng.uniform(-1.0f, 1.0f);
    if (std::isfinite(values[i]) && !std::isfinite(bounds[i].likely)) {
      values[i] = std::numeric_limits<float>::quiet_NaN();
      continue;
    }
    const double moved = static_cast<double>(values[i]) + static_cast<double>(way) * bounds[i].likely;
    if (std::fabs(moved) < std::numeric_limits<float>::max()) values[i] = static_cast<float>(moved);
  }
}

}  // namespace

Result<Tensor> disturbed(const Tensor& tensor, std::uint64_t seed, bool flush) {
  if (tensor.dtype() != DType::float32 || tensor.elements() < 2) return tensor;
  DRIFTSCOPE_TRY(Tensor copy, Tensor::from_values<float>(tensor.shape(), tensor.values<float>()));
  Rng rng(seed);
  for (float& x : copy.mutable_values<float>()) {
    if (flush && std::fpclassify(x) == FP_SUBNORMAL) x = 0.0f;
    if (x == 0.0f || !std::isfinite(x)) continue;
    const std::uint64_t way = rng.below(3);
    if (way == 0) continue;
    const float moved =
        std::nextafter(x, way == 1 ? 0.0f : std::copysign(std::numeric_limits<float>::max(), x));
    if (std::isnormal(moved)) x = moved;
  }
  return copy;
}

bool sums_products(const Node& node) {
  static constexpr std::array names = {"Conv", "ConvTranspose", "Einsum", "Gemm", "MatMul"};
  return node.domain.empty() && std::ranges::find(names, node.op_type) != names.end();
}

Status add_rounding_noise(const Node& node, std::span<const Tensor* const> inputs, const ErrorModel& model,
                          std::uint64_t seed, ThreadPool& threads, std::vector<Tensor>& outputs) {
  const auto op = find_operator(node);
  if (op.ok() && (*op)->exact_copy) return {};
  const std::vector<Evaluated<Bounded>> bounds =
      sums_products(node) ? std::vector<Evaluated<Bounded>>() : bounds_of(node, inputs, model, threads);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Tensor& output = outputs[i];
    if (output.dtype() != DType::float32) continue;
    if (i < bounds.size() && bounds[i].real.size() == static_cast<std::size_t>(output.elements())) {
      DRIFTSCOPE_TRY(output, Tensor::from_values<float>(output.shape(), output.values<float>()));
      move_within(output, bounds[i].real, seed ^ i << 16);
    } else {
      DRIFTSCOPE_TRY(output, disturbed(output, seed ^ i << 16, false));
    }
  }
  return {};
}

}  // namespace driftscope
