// A tensor as a plane for display: the last two axes, at a chosen index of the axes before them, or all
// channels as tiles. Clients: heat map, histogram, scatter, the tensor view.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/tensor.hpp"

namespace driftscope {

/// Any numeric element as a double; NaN beyond the tensor and for complex numbers.
[[nodiscard]] double element_value(const Tensor& tensor, std::int64_t element);
/// Its bits: "0x3f800000"; "–" beyond the tensor.
[[nodiscard]] std::string element_bits(const Tensor& tensor, std::int64_t element);
/// All elements, in order.
[[nodiscard]] std::vector<double> element_values(const Tensor& tensor);

/// How a shape lies on a plane. A vector is wrapped into rows, a scalar is one cell.
class PlaneLayout {
 public:
  /// Shapes with a zero give an empty plane.
  explicit PlaneLayout(const Shape& shape);

  /// Axes with a chooser: all but the last two. Their displayed names: batch, channel.
  [[nodiscard]] const Shape& outer() const { return outer_; }
  [[nodiscard]] std::string axis_name(std::size_t axis) const;

  /// The index of each outer axis; clamped to the shape.
  void choose(std::vector<std::int64_t> indices);
  [[nodiscard]] const std::vector<std::int64_t>& chosen() const { return chosen_; }
  /// All indices of the last outer axis side by side, as tiles with a gap between them.
  void show_tiles(bool tiles) { tiles_ = tiles && !outer_.empty() && outer_.back() > 1; }
  [[nodiscard]] bool tiles() const { return tiles_; }

  [[nodiscard]] std::int64_t width() const;
  [[nodiscard]] std::int64_t height() const;
  /// Whether the plane is a long row that was wrapped.
  [[nodiscard]] bool wrapped() const { return wrapped_; }
  /// The element at a point of the plane; −1 in a gap or outside.
  [[nodiscard]] std::int64_t element(std::int64_t x, std::int64_t y) const;
  /// Position of an element in the chosen plane; {−1, −1} when it lies in another one.
  struct Place {
    std::int64_t x = -1;
    std::int64_t y = -1;
  };
  [[nodiscard]] Place place(std::int64_t element) const;
  /// Where an element lies in its tensor; empty outside.
  [[nodiscard]] std::vector<std::int64_t> index(std::int64_t element) const;
  /// "[0,3,12,7]".
  [[nodiscard]] std::string index_text(std::int64_t element) const;

 private:
  [[nodiscard]] std::int64_t plane() const { return rows_ * columns_; }
  [[nodiscard]] std::int64_t first() const;
  [[nodiscard]] std::int64_t tile_columns() const;

  Shape shape_;
  Shape outer_;
  std::vector<std::int64_t> chosen_;
  bool tiles_ = false;
  bool wrapped_ = false;
  std::int64_t elements_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;  // of the plane; for a vector the wrapping width
};

}  // namespace driftscope
