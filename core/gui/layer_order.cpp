#include "core/gui/layer_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/report/metric_text.hpp"

namespace driftscope::gui {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Whether `text` contains `word` (in lower case), ignoring case.
bool has_word(std::string_view text, std::string_view word) {
  return std::search(text.begin(), text.end(), word.begin(), word.end(),
                     [](char a, char b) { return lower(a) == b; }) != text.end();
}

bool is_as(const Snapshot& snapshot, std::size_t layer, std::string_view what) {
  if (what == "constant") return snapshot.layers[layer].constant;
  for (std::size_t t = 0; t < snapshot.targets.size(); ++t) {
    const Cell& cell = snapshot.cell(layer, t);
    if (what == "different" && cell.differs()) return true;
    if (what == "inherited" && cell.inherited) return true;
    if (verdict_name(cell.verdict) == what) return true;
  }
  return false;
}

bool passes(const Snapshot& snapshot, std::size_t i, const std::vector<std::string>& words) {
  const Layer& layer = snapshot.layers[i];
  return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
    if (word.rfind("op:", 0) == 0) return has_word(layer.op, std::string_view(word).substr(3));
    if (word.rfind("is:", 0) == 0) return is_as(snapshot, i, std::string_view(word).substr(3));
    return has_word(layer.node, word) || has_word(layer.op, word) || has_word(layer.output, word);
  });
}

// Layers without a value go last in both directions.
template <class Value>
bool ordered_before(const Value& a, const Value& b, bool descending) {
  return descending ? b < a : a < b;
}

}  // namespace

std::string metric_text(const Cell& cell, Metric metric) {
  const double value = cell[metric];
  return std::isnan(value) ? "–" : driftscope::metric_text(row_of(metric), value);
}

std::vector<std::uint32_t> ordered_layers(const Snapshot& snapshot, const LayerFilter& filter,
                                          const LayerSort& sort) {
  std::vector<std::string> words;
  std::istringstream stream(filter.text);
  for (std::string word; stream >> word;) {
    // "op:Conv" and "is:FAULT" are compared in lower case as well.
    std::transform(word.begin(), word.end(), word.begin(), lower);
    words.push_back(word);
  }
  const bool constants =
      filter.constants || std::find(words.begin(), words.end(), "is:constant") != words.end();
  std::vector<std::uint32_t> rows;
  for (std::size_t i = 0; i < snapshot.layers.size(); ++i)
    if ((constants || !is_folded(snapshot, i)) && passes(snapshot, i, words))
      rows.push_back(static_cast<std::uint32_t>(i));
  if (sort.by == SortBy::place) {
    if (sort.descending) std::reverse(rows.begin(), rows.end());
    return rows;
  }
  const auto by_value = [&](const auto& value_of) {
    std::sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
      const auto& x = value_of(a);
      const auto& y = value_of(b);
      if (x == y) return a < b;
      return ordered_before(x, y, sort.descending);
    });
  };
  const std::size_t target = sort.target < snapshot.targets.size() ? sort.target : 0;
  const auto& layers = snapshot.layers;
  switch (sort.by) {
    case SortBy::node: by_value([&](std::uint32_t i) -> const std::string& { return layers[i].node; }); break;
    case SortBy::op: by_value([&](std::uint32_t i) -> const std::string& { return layers[i].op; }); break;
    case SortBy::shape: by_value([&](std::uint32_t i) -> const Shape& { return layers[i].shape; }); break;
    case SortBy::bytes:
      by_value([&](std::uint32_t i) -> const std::int64_t& { return layers[i].bytes; });
      break;
    case SortBy::verdict:
    case SortBy::metric: {
      std::vector<double> values(layers.size());
      for (const std::uint32_t i : rows) {
        const Cell& cell = snapshot.cell(i, target);
        values[i] = sort.by == SortBy::metric          ? cell[sort.metric]
                    : cell.verdict == Verdict::missing ? not_measured
                                                       : static_cast<double>(cell.verdict);
      }
      std::sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
        const double x = values[a];
        const double y = values[b];
        if (std::isnan(x) || std::isnan(y)) return std::isnan(x) == std::isnan(y) ? a < b : std::isnan(y);
        if (x == y) return a < b;
        return ordered_before(x, y, sort.descending);
      });
      break;
    }
    case SortBy::place: break;
  }
  return rows;
}

std::vector<Metric> metrics_in(const Snapshot& snapshot) {
  std::vector<Metric> metrics;
  for (const Metric metric : shown_metrics) {
    bool any = !row_of(metric).optional;
    for (std::size_t t = 0; t < snapshot.targets.size(); ++t)
      for (std::size_t i = 0; i < snapshot.layers.size() && !any; ++i)
        any = !std::isnan(snapshot.cell(i, t)[metric]);
    if (any) metrics.push_back(metric);
  }
  return metrics;
}

Table layer_table(const Snapshot& snapshot, const std::vector<std::uint32_t>& rows) {
  const std::vector<Metric> metrics = metrics_in(snapshot);
  std::vector<std::string> cells = {"layer", "place", "op", "output", "shape", "bytes"};
  for (const TargetColumn& target : snapshot.targets) {
    cells.push_back(target.target + " verdict");
    for (const Metric metric : metrics)
      cells.push_back(fmt::format("{} {}", target.target, appearance(metric).name));
  }
  Table table = {cells};
  for (const std::uint32_t i : rows) {
    const Layer& layer = snapshot.layers[i];
    cells = {layer.node,
             std::to_string(i),
             layer.op,
             layer.output,
             layer.shape_known ? shape_text(layer.shape) : "",
             std::to_string(layer.bytes)};
    for (std::size_t t = 0; t < snapshot.targets.size(); ++t) {
      const Cell& cell = snapshot.cell(i, t);
      cells.emplace_back(verdict_name(cell.verdict));
      for (const Metric metric : metrics) {
        const double value = cell[metric];
        cells.push_back(std::isnan(value) ? "" : fmt::format("{}", value));
      }
    }
    table.push_back(cells);
  }
  return table;
}

}  // namespace driftscope::gui
