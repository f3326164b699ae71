#include "core/engines/fast/reorder.hpp"

#include <xnnpack.h>

#include <array>
#include <cstring>
#include <vector>

#include "core/engines/fast/xnn.hpp"

namespace driftscope::fast {

using namespace lowering;

namespace {

using Transpose = decltype(&xnn_run_transpose_nd_x32);

Transpose transpose_of(std::size_t element_bytes) {
  switch (element_bytes) {
    case 1: return xnn_run_transpose_nd_x8;
    case 2: return xnn_run_transpose_nd_x16;
    case 4: return xnn_run_transpose_nd_x32;
    default: return xnn_run_transpose_nd_x64;
  }
}

}  // namespace

Status reorder(const Shape& shape, std::size_t element_bytes, Layout from, const std::byte* source, Layout to,
               std::byte* target, pthreadpool* pool) {
  const auto bytes = static_cast<std::size_t>(element_count(shape)) * element_bytes;
  if (bytes == 0) return {};
  if (same_order(shape, from, to)) {
    std::memcpy(target, source, bytes);
    return {};
  }
  if (!from.plain() && !to.plain()) {  // two different groupings: via the plain order
    std::vector<std::byte> between(bytes + read_beyond);
    DRIFTSCOPE_CHECK(reorder(shape, element_bytes, from, source, {}, between.data(), pool));
    return reorder(shape, element_bytes, {}, between.data(), to, target, pool);
  }
  const Blocks blocks = blocks_of(shape, from.plain() ? to : from);
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  const std::array<std::size_t, 3> dims = {size(blocks.batch),
                                           size(from.plain() ? blocks.channels : blocks.spatial),
                                           size(from.plain() ? blocks.spatial : blocks.channels)};
  constexpr std::array<std::size_t, 3> order = {0, 2, 1};
  return xnn_check(
      transpose_of(element_bytes)(source, target, dims.size(), dims.data(), order.data(), 0, pool),
      "XNNPACK: transpose");
}

}  // namespace driftscope::fast
