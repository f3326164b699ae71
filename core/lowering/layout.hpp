// How the elements of a value lie in memory: as ONNX has them, or with the channels last, which is how
// XNNPACK computes. Clients: the lowering, the session (which hands values over in ONNX's order).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/tensor.hpp"

struct pthreadpool;

namespace driftscope::fast {

/// Of a logical shape [N, …]: plain, or the `channels` groups into which each of the N parts divides
/// are innermost: element (n, c, s) of N×C×S lies at (n·S + s)·C + c. NHWC is channels = C of N×C×H×W; a
/// flattened N×(C·H·W) may keep that order, and says so with the same C.
struct Layout {
  std::int64_t channels = 0;  ///< 0: plain

  [[nodiscard]] bool plain() const { return channels == 0; }
  bool operator==(const Layout&) const = default;
};

/// N, C, S of a shape whose layout has these channels (≥ 1 and dividing shape[1:]).
struct Blocks {
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  std::int64_t spatial = 1;
};
[[nodiscard]] Blocks blocks_of(const Shape& shape, Layout layout);

/// The layout of N×C×… (rank 3 or more) with the channels last.
[[nodiscard]] inline Layout channels_last(const Shape& shape) { return {shape[1]}; }

/// Whether both layouts are the same order of memory for this shape.
[[nodiscard]] bool same_order(const Shape& shape, Layout a, Layout b);

/// The axes in the order of memory, outermost first: {0, 2, 3, 1} for NHWC. The layout is plain or that
/// of channels_last(shape).
[[nodiscard]] std::vector<std::size_t> axes_in_memory(const Shape& shape, Layout layout);

/// The shape in the order of memory.
[[nodiscard]] Shape shape_in_memory(const Shape& shape, Layout layout);

/// How far beyond a source XNNPACK's kernels may read.
inline constexpr std::size_t read_beyond = 64;

/// Copies elements of `element_bytes` each (1, 2, 4 or 8) from one order to the other. Behind the source
/// `read_beyond` more bytes must be readable, as behind every Tensor. XNNPACK is initialized.
[[nodiscard]] Status reorder(const Shape& shape, std::size_t element_bytes, Layout from,
                             const std::byte* source, Layout to, std::byte* target,
                             pthreadpool* pool = nullptr);

}  // namespace driftscope::fast
