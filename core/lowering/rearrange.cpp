#include "core/lowering/rearrange.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string>

namespace driftscope::lowering {
namespace {

// The position of the element with this index in ONNX's order.
std::int64_t place_of(std::int64_t index, const Blocks& blocks, Layout layout) {
  if (layout.channels == 0) return index;
  const std::int64_t s = index % blocks.spatial;
  const std::int64_t c = index / blocks.spatial % blocks.channels;
  const std::int64_t n = index / blocks.spatial / blocks.channels;
  return (n * blocks.spatial + s) * blocks.channels + c;
}

}  // namespace

Result<Tensor> rearranged(const Constant& constant, Layout to) {
  const Layout from = constant.layout;
  const DType dtype = constant.tensor.dtype();
  if (from.packing != 0 || to.packing != 0 || bits_per_element(dtype) % 8 != 0)
    return internal_error(
        fmt::format("constant {}: the engine does not say how it is packed", constant.name));
  DRIFTSCOPE_TRY(Tensor result, Tensor::make(dtype, constant.shape, std::string(constant.name)));
  const auto size = static_cast<std::size_t>(bits_per_element(dtype) / 8);
  const Blocks source_blocks = blocks_of(constant.shape, from);
  const Blocks target_blocks = blocks_of(constant.shape, to);
  const std::byte* source = constant.tensor.bytes().data();
  std::byte* target = result.mutable_bytes().data();
  for (std::int64_t i = 0; i < element_count(constant.shape); ++i)
    std::memcpy(target + static_cast<std::size_t>(place_of(i, target_blocks, to)) * size,
                source + static_cast<std::size_t>(place_of(i, source_blocks, from)) * size, size);
  return result;
}

}  // namespace driftscope::lowering
