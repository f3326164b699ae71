#include "core/engines/strict/window_grid.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

#include "core/base/checked.hpp"

namespace driftscope {
namespace {

// Columns computed per column used; beyond this the scalar kernel is no slower.
constexpr std::int64_t max_waste = 8;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

}  // namespace

WindowGrid::Axis WindowGrid::make_axis(const WindowAxis& axis) {
  Axis made;
  made.axis = axis;
  std::int64_t furthest = 0;
  for (std::int64_t k = 0; k < axis.kernel; ++k) {
    made.residues.push_back(k * axis.dilation % axis.stride);
    made.step_of_tap.push_back(k * axis.dilation / axis.stride);
    furthest = std::max(furthest, made.step_of_tap.back());
  }
  const std::vector<std::int64_t> of_tap = made.residues;
  std::sort(made.residues.begin(), made.residues.end());
  made.residues.erase(std::unique(made.residues.begin(), made.residues.end()), made.residues.end());
  for (const std::int64_t residue : of_tap)
    made.residue_of_tap.push_back(std::lower_bound(made.residues.begin(), made.residues.end(), residue) -
                                  made.residues.begin());
  made.extent = axis.output + furthest;
  return made;
}

std::optional<WindowGrid> WindowGrid::make(std::span<const WindowAxis> axes, const WindowKernels& kernels) {
  if (axes.empty() || axes.size() > 2) return std::nullopt;
  for (const WindowAxis& axis : axes)
    if (axis.output <= 0 || axis.kernel > (1 << 16) || axis.output > (std::int64_t{1} << 31))
      return std::nullopt;
  WindowGrid grid;
  grid.kernels_ = kernels;
  grid.rows_ = make_axis(axes.size() == 2 ? axes.front() : WindowAxis{.input = 1, .output = 1});
  grid.columns_ = make_axis(axes.back());
  const std::int64_t phases = static_cast<std::int64_t>(grid.rows_.residues.size()) *
                              static_cast<std::int64_t>(grid.columns_.residues.size());
  const auto size = checked_product(std::array{phases, grid.rows_.extent, grid.columns_.extent});
  if (!size || grid.pitch() > max_waste * grid.horizontal().output) return std::nullopt;
  // Nor if the copy would be much larger than the input, as with wide padding or dilation.
  if (*size > max_waste * (grid.input_size() + grid.output_size()) + 4096) return std::nullopt;
  return grid;
}

bool WindowGrid::has_padding() const {
  const auto padded = [](const WindowAxis& axis) {
    return axis.at(0, 0) < 0 || axis.at(axis.output - 1, axis.kernel - 1) >= axis.input;
  };
  return padded(rows_.axis) || padded(columns_.axis);
}

std::int64_t WindowGrid::plane_size() const {
  return static_cast<std::int64_t>(rows_.residues.size() * columns_.residues.size()) * rows_.extent *
         columns_.extent;
}

std::int64_t WindowGrid::tap_offset(std::int64_t kh, std::int64_t kw) const {
  const auto row = static_cast<std::size_t>(kh);
  const auto column = static_cast<std::size_t>(kw);
  const auto across = static_cast<std::int64_t>(columns_.residues.size());
  const auto phase = rows_.residue_of_tap[row] * across + columns_.residue_of_tap[column];
  return (phase * rows_.extent + rows_.step_of_tap[row]) * columns_.extent + columns_.step_of_tap[column];
}

bool WindowGrid::is_input() const {
  const auto whole = [](const Axis& axis) {
    return axis.axis.stride == 1 && axis.axis.pad_begin == 0 && axis.extent == axis.axis.input;
  };
  return whole(rows_) && whole(columns_);
}

template <class T>
void WindowGrid::copy_row(const T* x, T* row, std::int64_t residue, T padding) const {
  const WindowAxis& axis = columns_.axis;
  const std::int64_t first = residue - axis.pad_begin;  // input coordinate of position 0
  const std::int64_t begin = std::clamp<std::int64_t>(ceil_div(-first, axis.stride), 0, pitch());
  const std::int64_t end =
      std::clamp<std::int64_t>(ceil_div(axis.input - first, axis.stride), begin, pitch());
  std::fill(row, row + begin, padding);
  if (axis.stride == 1) {
    std::copy_n(x + first + begin, end - begin, row + begin);
  } else if (std::is_same_v<T, float> && axis.stride == 2) {
    if constexpr (std::is_same_v<T, float>)
      kernels_.every_second(x + first + 2 * begin, row + begin, end - begin);
  } else {
    for (std::int64_t i = begin; i < end; ++i) row[i] = x[first + i * axis.stride];
  }
  std::fill(row + end, row + pitch(), padding);
}

template <class T>
void WindowGrid::copy_plane(const T* x, T* plane, T padding) const {
  const WindowAxis& axis = rows_.axis;
  for (const std::int64_t row_residue : rows_.residues)
    for (const std::int64_t column_residue : columns_.residues)
      for (std::int64_t i = 0; i < rows_.extent; ++i, plane += pitch()) {
        const std::int64_t h = i * axis.stride + row_residue - axis.pad_begin;
        if (h < 0 || h >= axis.input)
          std::fill(plane, plane + pitch(), padding);
        else
          copy_row(x + h * columns_.axis.input, plane, column_residue, padding);
      }
}

template void WindowGrid::copy_plane(const float*, float*, float) const;
template void WindowGrid::copy_plane(const std::int32_t*, std::int32_t*, std::int32_t) const;

}  // namespace driftscope
