// Which tile is the fastest on a device: a short measurement of a product, once for each adapter. Client:
// engine.cpp.
#pragma once

#include <memory>

#include "core/engines/gpu/gpu_engine.hpp"
#include "core/engines/webgpu/product.hpp"

namespace driftscope::webgpu {

/// What was measured on this adapter; null if nothing was.
[[nodiscard]] const Tile* measured_tile(const gpu::DeviceFacts& facts);

[[nodiscard]] std::unique_ptr<gpu::Probe> make_tile_probe(gpu::Device& device);

}  // namespace driftscope::webgpu
