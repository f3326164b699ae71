#include "core/results/metric_columns.hpp"

#include <bit>

namespace driftscope {
namespace {

bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

}  // namespace

void MetricColumn::set(std::size_t layer, double value) {
  const std::size_t place = layer / block_layers;
  if (place >= blocks_.size()) {
    if (same(value, not_measured)) return;
    blocks_.resize(place + 1);
  }
  Block& block = blocks_[place];
  if (block.values.empty()) {
    if (same(block.all, value)) return;
    block.values.assign(block_layers, block.all);
  }
  block.values[layer % block_layers] = value;
}

void MetricColumn::compact() {
  for (Block& block : blocks_) {
    if (block.values.empty()) continue;
    const double first = block.values.front();
    if (!std::all_of(block.values.begin(), block.values.end(), [&](double x) { return same(x, first); }))
      continue;
    block = {first, {}};
  }
  blocks_.shrink_to_fit();
}

std::size_t MetricColumn::bytes() const {
  std::size_t bytes = sizeof *this + blocks_.capacity() * sizeof(Block);
  for (const Block& block : blocks_) bytes += block.values.capacity() * sizeof(double);
  return bytes;
}

}  // namespace driftscope
