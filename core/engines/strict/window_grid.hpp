// Windows over a 2-D plane, laid out so that each tap of all windows is one contiguous run: the
// plane is copied with its padding, and with a stride it is split by residues, so that adjacent
// windows read adjacent elements. Then window (oh, ow) reads its tap (kh, kw) at
//   tap_offset(kh, kw) + oh·pitch + ow.
// Runs over several rows also compute the few columns between the rows; they are not used.
// Clients: the strict kernels of Conv and the pools. A 1-D window is a plane of one row.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/engines/strict/simd/window.hpp"
#include "core/ops/shared/window.hpp"

namespace driftscope {

class WindowGrid {
 public:
  /// For one or two spatial axes; nothing for others, for empty outputs, and if most of the
  /// computed elements lie between the rows (a kernel that is almost as wide as its input).
  [[nodiscard]] static std::optional<WindowGrid> make(std::span<const WindowAxis> axes,
                                                      const WindowKernels& kernels);

  [[nodiscard]] const WindowAxis& vertical() const { return rows_.axis; }
  [[nodiscard]] const WindowAxis& horizontal() const { return columns_.axis; }
  [[nodiscard]] std::int64_t input_size() const { return rows_.axis.input * columns_.axis.input; }
  [[nodiscard]] std::int64_t output_size() const { return rows_.axis.output * columns_.axis.output; }
  [[nodiscard]] std::int64_t taps() const { return rows_.axis.kernel * columns_.axis.kernel; }
  [[nodiscard]] bool has_padding() const;

  /// Floats from one output row to the next.
  [[nodiscard]] std::int64_t pitch() const { return columns_.extent; }
  /// Floats of one plane after copying.
  [[nodiscard]] std::int64_t plane_size() const;
  [[nodiscard]] std::int64_t tap_offset(std::int64_t kh, std::int64_t kw) const;

  /// Whether a plane of the input already has this layout: no stride, no padding.
  [[nodiscard]] bool is_input() const;
  /// Copies one plane of the input; elements outside it are `padding`. T: float or std::int32_t.
  template <class T>
  void copy_plane(const T* x, T* plane, T padding) const;

 private:
  struct Axis {
    WindowAxis axis;
    std::vector<std::int64_t> residues;        // the occurring values of k·dilation mod stride, ascending
    std::vector<std::int64_t> residue_of_tap;  // index into residues
    std::vector<std::int64_t> step_of_tap;     // k·dilation / stride
    std::int64_t extent = 0;                   // positions kept per residue
  };
  static Axis make_axis(const WindowAxis& axis);
  template <class T>
  void copy_row(const T* x, T* row, std::int64_t residue, T padding) const;

  Axis rows_;
  Axis columns_;
  WindowKernels kernels_;
};

}  // namespace driftscope
