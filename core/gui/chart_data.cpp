#include "core/gui/chart_data.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/results/layer_names.hpp"

namespace driftscope::gui {
namespace {

std::int64_t cell_ns(const Cell& cell, bool first) { return first ? cell.first_ns() : cell.time_ns(); }

}  // namespace

Drift drift_of(const Snapshot& snapshot, DriftMeasure measure) {
  std::vector<std::size_t> layers;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < snapshot.layers.size(); ++i) {
    const Layer& layer = snapshot.layers[i];
    if (is_folded(snapshot, i) || !carries_error(layer.dtype)) continue;
    layers.push_back(i);
    names.push_back(layer.label.empty() ? layer.node : layer.label);
  }
  Drift drift = driftscope::drift_of(snapshot.results, std::move(layers), measure);
  drift.names = std::move(names);
  for (DriftSeries& series : drift.series) series.name = snapshot.targets[series.target].name;
  return drift;
}

std::vector<std::int64_t> layer_times(const Snapshot& snapshot, std::size_t layer, bool first) {
  std::vector<std::int64_t> times;
  for (std::size_t t = 0; t < snapshot.targets.size(); ++t)
    times.push_back(cell_ns(snapshot.cell(layer, t), first));
  return times;
}

std::vector<std::int64_t> model_times(const Snapshot& snapshot, bool first) {
  std::vector<std::int64_t> times;
  for (const TargetColumn& column : snapshot.targets)
    times.push_back(static_cast<std::int64_t>(first ? column.time.first_ns : column.time.ns));
  return times;
}

std::int64_t longest_layer_ns(const Snapshot& snapshot, bool first) {
  std::int64_t longest = 0;
  for (std::size_t t = 0; t < snapshot.targets.size(); ++t)
    for (std::size_t i = 0; i < snapshot.layers.size(); ++i)
      longest = std::max(longest, cell_ns(snapshot.cell(i, t), first));
  return longest;
}

Flame flame_of(const Snapshot& snapshot, std::size_t target, bool first) {
  Flame flame;
  const TargetColumn& column = snapshot.targets[target];
  std::unordered_map<std::string_view, std::size_t> layer_of;
  for (std::size_t i = 0; i < snapshot.layers.size(); ++i) layer_of.emplace(snapshot.layers[i].node, i);
  std::vector<std::size_t> open;  // spans of the scopes that contain the last node
  const auto time_of = [first](const NodeRecord& node) -> std::int64_t {
    return node.time_ns.empty() ? 0 : first ? node.time_ns.front() : steady_time_ns(node);
  };
  std::unordered_map<std::string_view, std::int64_t> inside_ns;  // of what an If, Loop or Scan contains
  for (const NodeRecord& node : column.about.nodes)
    if (!node.inside.empty()) inside_ns[node.inside] += time_of(node);
  for (const NodeRecord& node : column.about.nodes) {
    const auto contained = inside_ns.find(node.name);
    const std::int64_t ns = time_of(node) - (contained == inside_ns.end() ? 0 : contained->second);
    if (ns <= 0) continue;
    auto scopes = scopes_of(node.name);
    if (scopes.size() > 24) scopes.resize(24);
    std::size_t same = 0;
    while (same < open.size() && same + 1 < scopes.size() && flame.spans[open[same]].name == scopes[same])
      ++same;
    open.resize(same);
    const std::int64_t begin = flame.total_ns;
    flame.total_ns += ns;
    for (const std::size_t span : open) flame.spans[span].end_ns = flame.total_ns;
    for (std::size_t depth = same; depth < scopes.size(); ++depth) {
      const bool bottom = depth + 1 == scopes.size();
      const auto layer = layer_of.find(node.name);
      if (!bottom) open.push_back(flame.spans.size());
      flame.spans.push_back({depth, begin, flame.total_ns, scopes[depth],
                             bottom && layer != layer_of.end() ? layer->second : no_place});
    }
    flame.depth = std::max(flame.depth, scopes.size());
  }
  return flame;
}

std::vector<MemoryCurve> memory_curves(const Snapshot& snapshot) {
  std::vector<MemoryCurve> all;
  for (std::size_t t = 0; t < snapshot.targets.size(); ++t) {
    const std::size_t first = all.size();
    for (const MemoryRecord& sample : snapshot.targets[t].about.memory) {
      if (!std::isfinite(sample.t_ms)) continue;
      auto same = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(first), all.end(),
                               [&](const MemoryCurve& one) { return one.kind == sample.kind; });
      if (same == all.end()) same = all.insert(all.end(), MemoryCurve{t, sample.kind, {}});
      same->samples.push_back(sample);
    }
  }
  for (MemoryCurve& one : all)
    std::sort(one.samples.begin(), one.samples.end(),
              [](const MemoryRecord& a, const MemoryRecord& b) { return a.t_ms < b.t_ms; });
  return all;
}

AliveValues alive_values(const Snapshot& snapshot) {
  if (!snapshot.has_structure) return {};
  const std::size_t count = snapshot.layers.size();
  std::vector<std::size_t> last_read(count);
  for (std::size_t i = 0; i < count; ++i) last_read[i] = no_place;
  for (std::size_t i = 0; i < count; ++i)
    for (const std::uint32_t input : snapshot.layers[i].inputs)
      if (last_read[input] == no_place || i > last_read[input]) last_read[input] = i;
  std::vector<std::int64_t> change(count + 1, 0);
  for (std::size_t i = 0; i < count; ++i) {
    if (is_folded(snapshot, i)) continue;
    change[i] += snapshot.layers[i].bytes;
    change[last_read[i] == no_place ? count : std::max(last_read[i], i) + 1] -= snapshot.layers[i].bytes;
  }
  AliveValues alive;
  std::int64_t now = 0;
  for (std::size_t i = 0; i < count; ++i) {
    now += change[i];
    if (is_folded(snapshot, i)) continue;
    alive.layers.push_back(i);
    alive.bytes.push_back(now);
  }
  if (alive.layers.empty()) return alive;
  const auto peak = std::ranges::max_element(alive.bytes) - alive.bytes.begin();
  alive.peak_name = snapshot.layers[alive.layers[static_cast<std::size_t>(peak)]].label;
  return alive;
}

}  // namespace driftscope::gui
