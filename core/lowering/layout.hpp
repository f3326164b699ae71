// How the elements of a value lie in memory: as ONNX orders them, with the channels last, or packed in an
// engine-specific way. Clients: the lowering, sessions (which return values in ONNX's order). It moves
// no bytes: that is each engine's work, see GraphLowering::emit_conversion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/tensor.hpp"

namespace driftscope::lowering {

/// For a logical shape [N, …]: plain, or the `channels` groups into which each of the N parts divides
/// are innermost: element (n, c, s) of N×C×S lies at (n·S + s)·C + c. NHWC is channels = C of N×C×H×W; a
/// flattened N×(C·H·W) may keep that order, which the same C expresses.
struct Layout {
  std::int64_t channels = 0;  ///< 0: channels not last
  /// How an engine packs the elements in that order, as a number it defines: four channels to a texel. Two
  /// layouts of different packing never have the same order. 0: one after the other.
  int packing = 0;

  [[nodiscard]] bool plain() const { return channels == 0 && packing == 0; }
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

/// Whether both layouts order memory in the same way for this shape.
[[nodiscard]] bool same_order(const Shape& shape, Layout a, Layout b);

/// The layout that the same memory has under another shape of as many elements; nothing where it has none.
[[nodiscard]] std::optional<Layout> layout_after(const Shape& from, Layout layout, const Shape& to);

/// The axes in the order of memory, outermost first: {0, 2, 3, 1} for NHWC. The layout is plain or that
/// of channels_last(shape).
[[nodiscard]] std::vector<std::size_t> axes_in_memory(const Shape& shape, Layout layout);

/// The shape in the order of memory.
[[nodiscard]] Shape shape_in_memory(const Shape& shape, Layout layout);

}  // namespace driftscope::lowering
