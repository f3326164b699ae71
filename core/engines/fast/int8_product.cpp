#include "core/engines/fast/int8_product.hpp"

#include <algorithm>

namespace driftscope::fast {
namespace {

constexpr std::uint8_t upper_bit = 0x80;

std::int32_t wrapped(std::uint32_t number) { return static_cast<std::int32_t>(number); }

}  // namespace

// B is packed as int8: uint8 less 128, and its zero points likewise.
Int8Product::Int8Product(const Tensor& b, std::span<const std::int32_t> zeros, const Int8Kernels& kernels,
                         std::int64_t rows, bool a_signed, ThreadPool& pool, std::int64_t threads)
    : depth_(b.shape()[0]),
      columns_(b.shape()[1]),
      rows_(rows),
      a_flip_(a_signed ? upper_bit : 0),
      kernels_(kernels),
      pool_(pool),
      parts_(std::clamp<std::int64_t>(threads, 1, panels())),
      data_(panels() * panel_bytes()),
      sums_(static_cast<std::size_t>(panels() * width())),
      zeros_(static_cast<std::size_t>(panels() * width())) {
  const bool b_signed = b.dtype() == DType::int8;
  const std::int32_t less = b_signed ? 0 : upper_bit;
  for (std::size_t n = 0; n < static_cast<std::size_t>(columns_); ++n)
    zeros_[n] = zeros[zeros.size() == 1 ? 0 : n] - less;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(b.bytes().data());
  pool_.parallel_for(panels(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t panel = begin; panel < end; ++panel) pack(bytes, b_signed ? 0 : upper_bit, panel);
  });
}

void Int8Product::pack(const std::uint8_t* b, std::uint8_t flip, std::int64_t panel) {
  const std::int64_t first = panel * width();
  const std::int64_t columns = std::min(width(), columns_ - first);
  std::int8_t* const to = data_.data() + panel * panel_bytes();
  std::fill_n(to, panel_bytes(), std::int8_t{0});
  for (std::int64_t k = 0; k < depth_; ++k) {
    const std::uint8_t* const from = b + k * columns_ + first;
    for (std::int64_t n = 0; n < columns; ++n) {
      const auto number = static_cast<std::int8_t>(from[n] ^ flip);
      to[(k / 4 * width() + n) * 4 + k % 4] = number;
      sums_[static_cast<std::size_t>(first + n)] += number;
    }
  }
}

std::size_t Int8Product::scratch() const {
  return static_cast<std::size_t>(rows_ * (groups() * 4 + std::int64_t{sizeof(std::int32_t)}));
}

// Rows of whole groups, and depth · zero point − Σ a of each.
void Int8Product::prepare(const std::uint8_t* a, std::uint32_t zero, std::uint8_t* rows,
                          std::int32_t* terms) const {
  for (std::int64_t row = 0; row < rows_; ++row) {
    const std::uint8_t* const from = a + row * depth_;
    std::uint8_t* const to = rows + row * groups() * 4;
    const std::uint32_t sum = kernels_.copy_row(from, a_flip_, static_cast<std::size_t>(depth_), to);
    std::fill(to + depth_, to + groups() * 4, std::uint8_t{0});
    terms[row] = wrapped(static_cast<std::uint32_t>(depth_) * zero - sum);
  }
}

void Int8Product::run(const std::uint8_t* a, std::int32_t a_zero, std::int32_t* y, std::byte* scratch) const {
  const auto zero = static_cast<std::uint32_t>(a_zero + a_flip_);
  auto* const terms = reinterpret_cast<std::int32_t*>(scratch);
  auto* const rows = reinterpret_cast<std::uint8_t*>(terms + rows_);
  prepare(a, zero, rows, terms);
  pool_.parallel_for(parts_, 1, [&](std::int64_t part, std::int64_t end) {
    const std::int64_t last = panels() * end / parts_;
    std::vector<std::int32_t> column_terms(static_cast<std::size_t>(width()));
    for (std::int64_t panel = panels() * part / parts_; panel < last; ++panel) {
      const std::int64_t first = panel * width();
      const auto at = static_cast<std::size_t>(first);
      for (std::size_t n = 0; n < column_terms.size(); ++n)
        column_terms[n] = wrapped(0u - zero * static_cast<std::uint32_t>(sums_[at + n]));
      kernels_.run({.b = data_.data() + panel * panel_bytes(),
                    .groups = static_cast<std::size_t>(groups()),
                    .a = rows,
                    .a_stride = static_cast<std::size_t>(groups() * 4),
                    .rows = static_cast<std::size_t>(rows_),
                    .row_terms = terms,
                    .column_terms = column_terms.data(),
                    .zeros = zeros_.data() + first,
                    .y = y + first,
                    .y_stride = static_cast<std::size_t>(columns_),
                    .columns = static_cast<std::size_t>(std::min(width(), columns_ - first))});
    }
  });
}

}  // namespace driftscope::fast
