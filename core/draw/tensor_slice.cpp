#include "core/draw/tensor_slice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/model/tensor_elements.hpp"

namespace driftscope {
namespace {

constexpr std::int64_t tile_gap = 1;

/// About twice as wide as high, and full rows where the number of elements allows it.
std::int64_t wrapped_columns(std::int64_t elements) {
  const auto good = static_cast<std::int64_t>(std::ceil(std::sqrt(2.0 * static_cast<double>(elements))));
  for (std::int64_t columns = good; columns <= good + good / 2; ++columns)
    if (elements % columns == 0) return columns;
  for (std::int64_t columns = good; columns > good / 2; --columns)
    if (elements % columns == 0) return columns;
  return good;
}

}  // namespace

double element_value(const Tensor& tensor, std::int64_t element) {
  double value = std::numeric_limits<double>::quiet_NaN();
  if (element < 0 || element >= tensor.elements()) return value;
  with_numbers(tensor, [&](const auto& at) { value = at(static_cast<std::size_t>(element)); });
  return value;
}

std::string element_bits(const Tensor& tensor, std::int64_t element) {
  const auto bits = static_cast<std::size_t>(bits_per_element(tensor.dtype()));
  if (element < 0 || element >= tensor.elements() || bits < 8) return "–";
  std::uint64_t value = 0;
  const std::size_t size = std::min(bits / 8, sizeof value);
  std::memcpy(&value, tensor.bytes().data() + static_cast<std::size_t>(element) * (bits / 8), size);
  return fmt::format("0x{:0{}x}", value, 2 * size);
}

std::vector<double> element_values(const Tensor& tensor) {
  std::vector<double> all;
  if (with_numbers(tensor, [](const auto&) {})) all = numbers_of(tensor);
  return all;
}

PlaneLayout::PlaneLayout(const Shape& shape) : shape_(shape), elements_(element_count(shape)) {
  if (elements_ == 0) return;
  if (shape.size() >= 2) {
    outer_.assign(shape.begin(), shape.end() - 2);
    rows_ = shape[shape.size() - 2];
    columns_ = shape.back();
    // 1×1 planes (after a global pool) are shown as one row of all their channels.
    if (rows_ == 1 && columns_ == 1 && !outer_.empty()) {
      columns_ = outer_.back();
      outer_.pop_back();
    }
  } else {
    rows_ = 1;
    columns_ = elements_;
  }
  // A long row is wrapped, so that it fills an area.
  wrapped_ = rows_ == 1 && columns_ > 64;
  if (wrapped_) {
    const std::int64_t length = columns_;
    columns_ = wrapped_columns(length);
    rows_ = (length + columns_ - 1) / columns_;
  }
  chosen_.assign(outer_.size(), 0);
}

std::string PlaneLayout::axis_name(std::size_t axis) const {
  if (shape_.size() == 4 || (shape_.size() > 4 && axis < 2)) return axis == 0 ? "batch" : "channel";
  return axis == 0 ? "batch" : fmt::format("axis {}", axis);
}

void PlaneLayout::choose(std::vector<std::int64_t> indices) {
  indices.resize(outer_.size(), 0);
  for (std::size_t axis = 0; axis < outer_.size(); ++axis)
    chosen_[axis] = std::clamp<std::int64_t>(indices[axis], 0, outer_[axis] - 1);
}

std::int64_t PlaneLayout::first() const {
  const std::int64_t planes = element_count(outer_);
  const std::int64_t size = planes > 0 ? elements_ / planes : 0;
  std::int64_t place = 0;
  for (std::size_t axis = 0; axis < outer_.size(); ++axis) {
    const bool tiled = tiles_ && axis + 1 == outer_.size();
    place = place * outer_[axis] + (tiled ? 0 : chosen_[axis]);
  }
  return place * size;
}

std::int64_t PlaneLayout::tile_columns() const {
  if (!tiles_) return 1;
  const double aspect = static_cast<double>(rows_) / static_cast<double>(columns_);
  const double count = static_cast<double>(outer_.back());
  return std::clamp<std::int64_t>(std::llround(std::ceil(std::sqrt(count * aspect * 1.4))), 1, outer_.back());
}

std::int64_t PlaneLayout::width() const {
  if (elements_ == 0) return 0;
  const std::int64_t tiles = tile_columns();
  return tiles * columns_ + (tiles - 1) * tile_gap;
}

std::int64_t PlaneLayout::height() const {
  if (elements_ == 0) return 0;
  const std::int64_t tiles = tiles_ ? (outer_.back() + tile_columns() - 1) / tile_columns() : 1;
  return tiles * rows_ + (tiles - 1) * tile_gap;
}

std::int64_t PlaneLayout::element(std::int64_t x, std::int64_t y) const {
  if (x < 0 || y < 0 || x >= width() || y >= height()) return -1;
  const std::int64_t size = elements_ / std::max<std::int64_t>(1, element_count(outer_));
  std::int64_t tile = 0;
  if (tiles_) {
    tile = y / (rows_ + tile_gap) * tile_columns() + x / (columns_ + tile_gap);
    x %= columns_ + tile_gap;
    y %= rows_ + tile_gap;
    if (tile >= outer_.back() || x >= columns_ || y >= rows_) return -1;
  }
  const std::int64_t within = y * columns_ + x;
  return within < size ? first() + tile * size + within : -1;
}

PlaneLayout::Place PlaneLayout::place(std::int64_t element) const {
  if (element < 0 || element >= elements_) return {};
  const std::int64_t size = elements_ / std::max<std::int64_t>(1, element_count(outer_));
  const std::int64_t behind = element - first();
  const std::int64_t tile = behind >= 0 ? behind / size : -1;
  if (tile < 0 || tile >= (tiles_ ? outer_.back() : 1)) return {};
  const std::int64_t within = behind % size;
  const std::int64_t across = tile_columns();
  return {tile % across * (columns_ + tile_gap) + within % columns_,
          tile / across * (rows_ + tile_gap) + within / columns_};
}

std::vector<std::int64_t> PlaneLayout::index(std::int64_t element) const {
  if (element < 0 || element >= elements_) return {};
  std::vector<std::int64_t> index(shape_.size());
  for (std::size_t axis = shape_.size(); axis-- > 0;) {
    index[axis] = element % shape_[axis];
    element /= shape_[axis];
  }
  return index;
}

std::string PlaneLayout::index_text(std::int64_t element) const {
  if (element < 0 || element >= elements_) return "";
  return fmt::format("[{}]", fmt::join(index(element), ","));
}

}  // namespace driftscope
