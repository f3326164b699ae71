#include "core/engines/fast/nbits_product.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/platform/large_pages.hpp"

namespace driftscope::fast {
namespace {

// Powers of two that are float32 themselves, with room for those of a word's places.
constexpr int max_exponent = 96;

}  // namespace

bool are_blocks(const std::vector<std::int64_t>& groups, const NBitsLayout& layout) {
  for (std::size_t k = 0; k < groups.size(); ++k)
    if (groups[k] != static_cast<std::int64_t>(k) / layout.block) return false;
  return true;
}

NBitsProduct::NBitsProduct(const NBitsLayout& layout, const NBitsWeights& weights, bool middle,
                           const float* bias, const NBitsKernels& kernels, std::int64_t rows,
                           ThreadPool& pool, std::int64_t threads)
    : layout_(layout),
      // Two bits are kept as four: their middle is another one.
      bits_(layout.bits == 8 ? 8 : 4),
      kernels_(kernels),
      zeros_(middle && layout.bits == bits_ ? NBitsZeros::middle : NBitsZeros::given),
      rows_(rows),
      pool_(pool),
      parts_(std::clamp<std::int64_t>(threads, 1, panels())),
      data_(panels() * layout.blocks() * block_words()) {
  prefer_large_pages(data_.data(), static_cast<std::size_t>(data_.size()) * sizeof(std::uint32_t));
  const auto width = static_cast<std::int64_t>(kernels.columns);
  if (bias != nullptr) {
    bias_.resize(static_cast<std::size_t>(panels() * width));
    std::copy_n(bias, layout.columns, bias_.begin());
  }
  pool_.parallel_for(panels(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t panel = begin; panel < end; ++panel) pack(weights, panel);
  });
}

std::int64_t NBitsProduct::panels() const {
  const auto width = static_cast<std::int64_t>(kernels_.columns);
  return (layout_.columns + width - 1) / width;
}

// Scales, zero points and weights of a block in a panel.
std::int64_t NBitsProduct::block_words() const {
  const std::int64_t parameters = zeros_ == NBitsZeros::given ? 2 : 1;
  return (parameters + layout_.block / numbers()) * static_cast<std::int64_t>(kernels_.columns);
}

void NBitsProduct::pack(const NBitsWeights& weights, std::int64_t panel) {
  const auto width = static_cast<std::int64_t>(kernels_.columns);
  const std::int64_t first = panel * width;
  const std::int64_t columns = std::min(width, layout_.columns - first);
  const std::int64_t words = layout_.block / numbers();
  std::uint32_t* to = data_.data() + panel * layout_.blocks() * block_words();
  std::fill_n(to, layout_.blocks() * block_words(), 0u);
  for (std::int64_t block = 0; block < layout_.blocks(); ++block) {
    for (std::int64_t n = 0; n < columns; ++n)
      to[n] = std::bit_cast<std::uint32_t>(weights.scale(block, first + n));
    to += width;
    if (zeros_ == NBitsZeros::given) {
      for (std::int64_t n = 0; n < columns; ++n)
        to[n] = std::bit_cast<std::uint32_t>(weights.zero(block, first + n));
      to += width;
    }
    for (std::int64_t word = 0; word < words; ++word, to += width)
      for (std::int64_t i = 0; i < numbers(); ++i) {
        const std::int64_t k =
            block * layout_.block + word * numbers() + i;  // the last block has more than K
        for (std::int64_t n = 0; n < columns; ++n)
          to[n] |= static_cast<std::uint32_t>(weights.step(k, first + n)) << (bits_ * i);
      }
  }
}

// A row as the kernels read it; returns the factor that it lacks.
float NBitsProduct::prepare(const float* from, float* to) const {
  float largest = 0.0f;
  for (std::int64_t k = 0; k < layout_.depth; ++k) largest = std::max(largest, std::fabs(from[k]));
  int exponent = 0;
  if (largest > 0.0f && std::isfinite(largest))
    exponent = std::clamp(std::ilogb(largest), -max_exponent, max_exponent);
  float places[8];
  for (int i = 0; i < static_cast<int>(numbers()); ++i)
    places[i] =
        std::ldexp(1.0f, -exponent - (zeros_ == NBitsZeros::middle ? static_cast<int>(bits_) * i : 0));
  const auto at_once = static_cast<std::size_t>(numbers());
  for (std::int64_t k = 0; k < layout_.depth; ++k)
    to[k] = from[k] * places[static_cast<std::size_t>(k) % at_once];
  std::fill(to + layout_.depth, to + depth(), 0.0f);
  return std::ldexp(1.0f, exponent);
}

void NBitsProduct::run(const float* a, float* y, float* scratch) const {
  float* const factors = scratch + rows_ * depth();
  for (std::int64_t row = 0; row < rows_; ++row)
    factors[row] = prepare(a + row * layout_.depth, scratch + row * depth());
  const auto width = static_cast<std::int64_t>(kernels_.columns);
  const auto kernel = bits_ == 8 ? kernels_.bytes : kernels_.nibbles;
  pool_.parallel_for(parts_, 1, [&](std::int64_t part, std::int64_t end) {
    const std::int64_t last = panels() * end / parts_;
    for (std::int64_t panel = panels() * part / parts_; panel < last; ++panel)
      kernel({.data = data_.data() + panel * layout_.blocks() * block_words(),
              .blocks = static_cast<std::size_t>(layout_.blocks()),
              .words = static_cast<std::size_t>(layout_.block / numbers()),
              .a = scratch,
              .a_stride = static_cast<std::size_t>(depth()),
              .rows = static_cast<std::size_t>(rows_),
              .factors = factors,
              .bias = bias_.empty() ? nullptr : bias_.data() + panel * width,
              .y = y + panel * width,
              .y_stride = static_cast<std::size_t>(layout_.columns),
              .columns = static_cast<std::size_t>(std::min(width, layout_.columns - panel * width))},
             zeros_);
  });
}

}  // namespace driftscope::fast
