// Blocks of the output that were not written: they hold zeros, or what an earlier pass left there.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/model/tensor_elements.hpp"
#include "core/verify/error_pattern.hpp"
#include "core/verify/variant.hpp"
#include "core/verify/verify_tensor.hpp"

namespace driftscope::variants::unwritten {
namespace {

std::vector<Candidate> zero_block(const LayerCase& layer) {
  if (!is_floating(layer.got.dtype()) || layer.output != 0) return {};
  const auto zeros = std::make_shared<const std::vector<std::uint8_t>>(layer.wrong_elements());
  bool only_zeros = !zeros->empty();
  double largest = 0.0;
  const std::vector<double> got = numbers_of(layer.got);
  for (std::size_t i = 0; i < zeros->size() && only_zeros; ++i) {
    if ((*zeros)[i] == 0) continue;
    only_zeros = got[i] == 0.0;
    largest = std::fmax(largest, std::fabs(layer.right()[i].value));
  }
  constexpr double tiny = 0x1p-64;  // an underflow, more likely
  if (!only_zeros || largest < tiny) return {};
  // Zeros elsewhere have another cause: padding, a function that ends at 0.
  const auto pattern = error_pattern(*zeros, layer.got.shape());
  if (!pattern || !pattern->block || !pattern->exact) return {};
  return {
      {.source =
           [zeros](std::int64_t i) { return (*zeros)[static_cast<std::size_t>(i)] != 0 ? source_zero : i; },
       .detail = "(" + pattern->text + ")"}};
}

/// A block that holds what belongs into the one beside it: a tile of an earlier pass.
std::vector<Candidate> block_of_neighbour(const LayerCase& layer) {
  const Shape& shape = layer.got.shape();
  const auto wrong = layer.wrong_elements();
  if (wrong.empty() || shape.empty() || !is_floating(layer.got.dtype())) return {};
  const auto pattern = error_pattern(wrong, shape);
  if (!pattern || !pattern->block || pattern->tile.empty() || pattern->share > 0.5) return {};
  // The box, by axis.
  std::vector<std::int64_t> low = shape;
  std::vector<std::int64_t> high(shape.size(), -1);
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    if (wrong[i] == 0) continue;
    const auto at = coordinates_of(static_cast<std::int64_t>(i), shape);
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      low[axis] = std::min(low[axis], at[axis]);
      high[axis] = std::max(high[axis], at[axis]);
    }
  }
  const auto mask = std::make_shared<const std::vector<std::uint8_t>>(wrong);
  std::vector<Candidate> list;
  std::int64_t inner = 1;
  for (std::size_t axis = shape.size(); axis-- > 0; inner *= shape[axis]) {
    const std::int64_t extent = high[axis] - low[axis] + 1;
    if (extent == shape[axis]) continue;
    for (const std::int64_t step : {-extent, extent}) {
      if (low[axis] + step < 0 || high[axis] + step >= shape[axis]) continue;
      list.push_back({.source =
                          [mask, offset = step * inner](std::int64_t i) {
                            return (*mask)[static_cast<std::size_t>(i)] != 0 ? i + offset : i;
                          },
                      .detail = fmt::format("({}, {} along axis {})", pattern->text,
                                            step < 0 ? "of the one before" : "of the one after", axis)});
    }
  }
  return list;
}

}  // namespace

void add_to(VariantTable& table) {
  table.add({.kind = VariantKind::faulty,
             .family = "execution",
             .id = "zero_block",
             .name = "a part of the output not written",
             .any_operator = true,
             .order = 22,
             .candidates = zero_block});
  table.add({.kind = VariantKind::faulty,
             .family = "execution",
             .id = "stale_tile",
             .name = "a block that holds what belongs beside it",
             .any_operator = true,
             .order = 24,
             .candidates = block_of_neighbour});
}

}  // namespace driftscope::variants::unwritten
