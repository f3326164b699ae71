#include "core/hunt/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace driftscope::hunt {
namespace {

/// A browser is opened for each block: it shall run for longer than it takes to open.
constexpr double block_seconds = 20.0;
constexpr std::int64_t first_count = 8;
constexpr std::int64_t most_growth = 4;
constexpr std::int64_t most_count = 2000;

}  // namespace

Blocks::Blocks(std::size_t targets, std::optional<std::int64_t> cases,
               std::function<bool(std::size_t, std::int64_t)> known)
    : known_(std::move(known)), next_(targets, 0), ends_(targets, cases), counts_(targets, first_count) {}

std::optional<Block> Blocks::next() {
  std::optional<std::size_t> chosen;
  for (std::size_t t = 0; t < next_.size(); ++t) {
    while ((!ends_[t] || next_[t] < *ends_[t]) && known_(t, next_[t])) ++next_[t];
    if (ends_[t] && next_[t] >= *ends_[t]) continue;
    if (!chosen || next_[t] < next_[*chosen]) chosen = t;
  }
  if (!chosen) return {};
  Block block{*chosen, next_[*chosen], 0};
  std::int64_t& end = next_[*chosen];
  while (block.count < counts_[*chosen] && (!ends_[*chosen] || end < *ends_[*chosen]) &&
         !known_(*chosen, end))
    ++block.count, ++end;
  return block;
}

void Blocks::took(const Block& block, double seconds) {
  const double fitting = static_cast<double>(block.count) * block_seconds / std::max(seconds, 1e-3);
  const std::int64_t most = std::min(most_count, block.count * most_growth);
  counts_[block.target] = fitting >= static_cast<double>(most)
                              ? most
                              : std::max<std::int64_t>(1, std::llround(std::floor(fitting)));
}

}  // namespace driftscope::hunt
