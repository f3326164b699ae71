// The program of a product, as product_kernel.hpp divides it. Clients: the lowering, tile_probe.cpp.
#pragma once

#include <string_view>

#include "core/engines/gpu/kernels.hpp"
#include "core/engines/webgpu/product_kernel.hpp"

namespace driftscope::webgpu {

[[nodiscard]] std::string_view product_file(ProductKernel::Kind kind);
/// What its shader gets, but for the result: BIAS, ADDS and the bounds.
[[nodiscard]] gpu::ShaderValues product_values(const gpu::Product& product, const ProductShape& shape,
                                               const ProductKernel& kernel);

}  // namespace driftscope::webgpu
