// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/overflow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/model/element.hpp"
#include "core/verify/nonfinite_holders.hpp"
#include "core/verify/tensor_values.hpp"

namespace driftscope {
namespace {

constexpr double largest_float16 = Element<DType::float16>::largest;
constexpr double headroom = 4.0;

double largest_finite(const Tensor& tensor) {
  double largest = 0.0;
  with_float_values(tensor, [&](const auto& at) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.elements()); ++i) {
      const double size = std::fabs(at(i));
      if (std::isfinite(size)) largest = std::max(largest, size);
    }
  });
  return largest;
}

bool is_first_of(const LayerOverflow& one, const Verification& verification, bool made) {
  const auto first = std::ranges::find_if(
      verification.overflows, [&](const LayerOverflow& layer) { return overflows(layer) == made; });
  return &*first == &one;
}

std::string more_text(const Verification& verification, bool made) {
  const auto count = std::ranges::count_if(
      verification.overflows, [&](const LayerOverflow& layer) { return overflows(layer) == made; });
  if (count < 2) return {};
  return count == 2 ? "; 1 more layer does so" : fmt::format("; {} more layers do so", count - 1);
}

std::string portion(std::int64_t count, std::int64_t elements, const std::string& value, const char* what) {
  return fmt::format("{} of {} elements of {} {} {}", count, elements, value, count == 1 ? "is" : "are",
                     what);
}

}  // namespace

std::vector<LayerOverflow> layer_overflows(const Graph& graph, const RecordedValues& recorded,
                                           std::span<const LayerVerdict> layers) {
  const NonFiniteHolders holders(graph, recorded, layers);
  std::vector<LayerOverflow> found;
  for (const Node& node : graph.nodes)
    for (const ValueId id : node.outputs) {
      if (id == no_value) continue;
      const Value& value = graph.values[id];
      const LayerVerdict* const layer = holders.layer(value.name);
      if (layer == nullptr || recorded[id] == nullptr) continue;
      const DType dtype = recorded[id]->dtype;
      LayerOverflow one{.node = node.name,
                        .op = node.op_type,
                        .output = value.name,
                        .dtype = std::string(dtype_name(dtype)),
                        .nan = layer->metrics.nan,
                        .inf = layer->metrics.inf,
                        .elements = layer->metrics.elements};
      if (dtype == DType::float16)
        if (const Result<Tensor> tensor = recorded.load(id); tensor.ok())
          one.largest = largest_finite(*tensor);
      if (overflows(one) ? holders.reads_finite(node) : one.largest * headroom > largest_float16)
        found.push_back(std::move(one));
    }
  return found;
}

std::string overflow_text(const Verification& verification) {
  std::string text;
  for (const LayerOverflow& one : verification.overflows) {
    const bool made = overflows(one);
    // Where outputs hold some, that is said with its beginning.
    if (!is_first_of(one, verification, made) || (made && !verification.nonfinite.empty())) continue;
    if (!text.empty()) text += "; ";
    if (made)
      text += fmt::format("{}, made of finite numbers at {} ({}, {}), and later layers hide it",
                          one.nan > 0 ? portion(one.nan, one.elements, one.output, "NaN")
                                      : portion(one.inf, one.elements, one.output, "infinite"),
                          one.node, one.op, one.dtype);
    else
      text +=
          fmt::format("{} comes to {:.0f} of 65504 at {} ({})", one.output, one.largest, one.node, one.dtype);
    text += more_text(verification, made);
  }
  return text;
}

std::string hidden_overflow(const Verification& verification) {
  if (!verification.nonfinite.empty()) return {};
  const auto hidden = std::ranges::find_if(verification.overflows, [](const LayerOverflow& layer) {
    return overflows(layer) && layer.op != "Cast" && layer.dtype == dtype_name(DType::float16);
  });
  if (hidden == verification.overflows.end()) return {};
  return fmt::format("overflow of {} at {} is hidden", hidden->dtype, hidden->node);
}

}  // namespace driftscope
