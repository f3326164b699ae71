// C += A·B on all threads, in the fixed order of simd/gemm. C holds the first terms (a bias, zeros)
// before the call. Clients: the strict kernels of Gemm and MatMul.
#pragma once

#include <cstdint>

#include "core/engines/strict/packing.hpp"

namespace driftscope {

/// c[i·c_stride + j] += Σₖ A[i, k]·B[k, j], k ascending. T: float, or std::int32_t for pairs.
template <class T>
void accumulate_product(const ProductKernels<T>& kernels, const PackedRowsOf<T>& a,
                        const PackedColumnsOf<T>& b, T* c, std::int64_t c_stride, ThreadPool& threads);

}  // namespace driftscope
