// C += A·B on all threads, in the fixed order of simd/gemm. C holds the first terms (a bias, zeros)
// before the call. Clients: the strict kernels of Gemm and MatMul.
#pragma once

#include <cstdint>

#include "core/engines/strict/packing.hpp"

namespace driftscope {

/// c[i·c_stride + j] += Σₖ A[i, k]·B[k, j], k ascending.
void accumulate_product(const GemmKernels& kernels, const PackedRows& a, const PackedColumns& b,
                        float* c, std::int64_t c_stride, ThreadPool& threads);

}  // namespace driftscope
