// MoE and QMoE: their attributes, where their inputs are, their shape rule. Clients: the operators; verify,
// for what it asks beyond the definition.
#pragma once

#include <array>
#include <limits>
#include <string_view>
#include <vector>

#include "core/ops/shared/domains.hpp"

namespace driftscope {

// Not attributes of ONNX Runtime's: with them QMoE's bound is that of kernels that round what they multiply
// the matrices with.

/// To int8, in blocks of so many numbers; the products with steps and zero points may be summed apart.
inline constexpr std::string_view rounded_activations = "driftscope.rounded_activations";
/// Sums of four numbers, in tables of int8 steps for each block of the weights, which have 2 bits (T-MAC: Wei
/// et al. 2024).
inline constexpr std::string_view tabled_activations = "driftscope.tabled_activations";

/// Numbers of the inputs of one of the three matrices; scales and zero points are QMoE's.
struct ExpertMatrix {
  std::size_t weights, bias, scales, zeros;
};
/// `fc`: 0 to 2, for fc1 to fc3.
[[nodiscard]] const ExpertMatrix& expert_matrix(const Node& node, std::size_t fc);

/// Whether it is QMoE.
[[nodiscard]] inline bool has_packed_experts(const Node& node) { return node.op_type == "QMoE"; }
/// The number of QMoE's input router_weights.
inline constexpr std::size_t mixing_weights = 14;
/// An expert with a weight up to this is left out.
[[nodiscard]] inline double least_expert_weight(const Node& node) {
  return has_packed_experts(node) ? static_cast<double>(1e-8F) : 0.0;
}

enum class ExpertFunction { relu, gelu, silu, identity, swiglu, relu2, geglu };

struct ExpertOptions {
  ExpertFunction function = ExpertFunction::relu;
  bool gated = false;       ///< swiglu, geglu
  std::int64_t fusion = 0;  ///< of gated ones; 0: fc3, 1: g and l in turn, 2: one after the other
  std::int64_t k = 1;
  bool normalize = false;
  // Of swiglu: g · σ(alpha · g) · (l + beta), g at most `limit` (or, with limits_result, g · σ), l within ±.
  float alpha = 1.0F, beta = 0.0F, limit = std::numeric_limits<float>::infinity();
  bool limits_result = false;
  std::array<std::int64_t, 3> bits = {0, 0, 0};  ///< 0: not quantized
  std::int64_t block = 0;                        ///< 0: a scale for each row
  std::int64_t rounded = 0;                      ///< rounded_activations; 0: not
  bool tabled = false;                           ///< tabled_activations

  /// Rows of fc1 for each inner number.
  [[nodiscard]] std::int64_t width() const { return gated && fusion != 0 ? 2 : 1; }
};

/// From the attributes, whose values are checked.
[[nodiscard]] Result<ExpertOptions> read_expert_options(const Node& node);

/// The shape rule of both.
[[nodiscard]] Result<std::vector<TensorType>> infer_experts(const InferContext& context);

}  // namespace driftscope
