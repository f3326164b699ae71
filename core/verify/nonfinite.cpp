// Compiled for size on the web (cmake/core.cmake).
#include "core/verify/nonfinite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/verify/nonfinite_holders.hpp"
#include "core/verify/tensor_values.hpp"

namespace driftscope {
namespace {

/// Back from a value that holds some, through those that do as well and those that were not recorded.
std::string beginning(const Graph& graph, const NonFiniteHolders& holders, ValueId output) {
  std::vector<bool> seen(graph.values.size());
  std::vector<ValueId> open = {output};
  ValueId first = output;
  const auto place = [&](ValueId id) {
    const NodeId producer = graph.values[id].producer;
    return producer == no_node ? std::int64_t{-1} : static_cast<std::int64_t>(producer);
  };
  while (!open.empty()) {
    const ValueId id = open.back();
    open.pop_back();
    if (seen[id]) continue;
    seen[id] = true;
    const auto holds = holders.holds(id);
    if (holds == false) continue;
    // A constant of infinities is a mask: what is made of it is where they begin.
    if (holds == true && !graph.values[id].constant && place(id) < place(first)) first = id;
    if (graph.values[id].producer == no_node) continue;
    for (const ValueId input : graph.nodes[graph.values[id].producer].reads())
      if (input != no_value) open.push_back(input);
  }
  const NodeId producer = graph.values[first].producer;
  return producer == no_node ? graph.values[first].name : graph.nodes[producer].name;
}

std::string output_text(const NonFiniteOutput& one, std::span<const LayerVerdict> layers) {
  const auto portion = [&](std::int64_t count, const char* what) {
    return count == one.elements && count != 1
               ? fmt::format("all {} elements of {} are {}", count, one.output, what)
               : fmt::format("{} of {} element{} of {} {} {}", count, one.elements,
                             one.elements == 1 ? "" : "s", one.output, count == 1 ? "is" : "are", what);
  };
  std::string text = one.nan > 0 ? portion(one.nan, "NaN") : portion(one.inf, "infinite");
  if (one.nan > 0 && one.inf > 0) text += fmt::format(" and {} infinite", one.inf);
  const bool by_a_node = std::ranges::find(layers, one.from, &LayerVerdict::node) != layers.end();
  if (one.from != one.node)
    text += fmt::format("{}{})", by_a_node ? " (first at " : " (first in the input ", one.from);
  return text;
}

}  // namespace

void count_nonfinite(const Tensor& got, Metrics& metrics) {
  metrics.elements = got.elements();
  metrics.nan = metrics.inf = 0;
  if (!is_floating(got.dtype())) return;
  with_float_values(got, [&](const auto& got_at) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(got.elements()); ++i) {
      const double x = got_at(i);
      metrics.nan += std::isnan(x) ? 1 : 0;
      metrics.inf += std::isinf(x) ? 1 : 0;
    }
  });
}

std::vector<NonFiniteOutput> nonfinite_outputs(const Graph& graph, const RecordedValues& recorded,
                                               std::span<const LayerVerdict> layers) {
  const NonFiniteHolders holders(graph, recorded, layers);
  std::vector<NonFiniteOutput> found;
  for (const ValueId id : graph.outputs) {
    const LayerVerdict* const layer = holders.layer(graph.values[id].name);
    if (layer == nullptr || layer->metrics.nan + layer->metrics.inf == 0) continue;
    found.push_back({layer->output, layer->node, beginning(graph, holders, id), layer->metrics.nan,
                     layer->metrics.inf, layer->metrics.elements});
  }
  return found;
}

std::string nonfinite_text(const Verification& verification) {
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, verification.nonfinite.size()); ++i)
    text += (i == 0 ? "" : "; ") + output_text(verification.nonfinite[i], verification.layers);
  if (verification.nonfinite.size() > most)
    text += fmt::format("; and of {} more outputs", verification.nonfinite.size() - most);
  return text;
}

std::string nonfinite_mark(const Metrics& metrics) {
  std::string text;
  if (metrics.nan > 0) text += fmt::format(", {} NaN", metrics.nan);
  if (metrics.inf > 0) text += fmt::format(", {} infinite", metrics.inf);
  return text;
}

}  // namespace driftscope
