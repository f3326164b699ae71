// Matrix products, and convolutions as such, on the shader that suits their size. Clients:
// operators/conv.cpp, operators/gemm.cpp.
#pragma once

#include "core/engines/webgl/lowering.hpp"

namespace driftscope::webgl {

/// Y (M x N) = A (M x K) · B (K x N), `batches` of them, + bias + addend, bounded.
struct Product {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batches = 1;
  BufferId a = no_buffer;
  BufferId y = no_buffer;
  BufferId addend = no_buffer;    ///< of the same shape and layout as Y; only with columns in fours
  gpu::MatrixElement constant_b;  ///< or else
  BufferId b = no_buffer;         ///< as it lies
  bool b_transposed = false;
  std::span<const float> bias;
  bool windows = false;       ///< A is an image; `values` say how it is walked
  std::int64_t channels = 0;  ///< of that image
  std::string a_batch = "0";  ///< which matrix of A belongs to `batch`
  std::string b_batch = "0";
  bool one_b = true;  ///< the same B for all batches
  Clamp clamp;
  ShaderValues values = {};
};

[[nodiscard]] Result<bool> emit_product(Lowering& lowering, Product product);

/// A constant in the engine's memory, padded with zeros to whole texels.
[[nodiscard]] Result<BufferId> keep_padded(Lowering& lowering, std::span<const float> values);

/// BIAS, CLAMPED, CLAMP_MIN, CLAMP_MAX.
void add_result_values(ShaderValues& values, bool bias, const Clamp& clamp);

}  // namespace driftscope::webgl
