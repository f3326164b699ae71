#include "core/gui/layer_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/report/format.hpp"

namespace driftscope::gui {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Whether `word`, in lower case, stands in `text`, in any case.
bool has_word(std::string_view text, std::string_view word) {
  return std::search(text.begin(), text.end(), word.begin(), word.end(),
                     [](char a, char b) { return lower(a) == b; }) != text.end();
}

bool is_as(const Snapshot& snapshot, std::size_t layer, std::string_view what) {
  for (std::size_t t = 0; t < snapshot.targets.size(); ++t) {
    const Cell& cell = snapshot.cell(layer, t);
    if (what == "different" && (cell.different > 0 || cell.mismatch)) return true;
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

// What has no value goes last, whichever way is sorted.
template <class Value>
bool ordered_before(const Value& a, const Value& b, bool descending) {
  return descending ? b < a : a < b;
}

}  // namespace

std::string_view metric_name(Metric metric) {
  switch (metric) {
    case Metric::budget_used: return "budget used";
    case Metric::max_abs: return "max abs";
    case Metric::max_rel: return "max rel";
    case Metric::max_ulp: return "max ULP";
    case Metric::different: return "differ";
    case Metric::cosine: return "cosine";
    case Metric::kl: return "KL";
    case Metric::local_error: return "own error";
    case Metric::time: return "time";
    case Metric::first_time: break;
  }
  return "first run";
}

std::string_view metric_help(Metric metric) {
  switch (metric) {
    case Metric::budget_used: return "Largest error of the layer itself, as a share of what rounding may do";
    case Metric::max_abs: return "Largest absolute difference from the left target";
    case Metric::max_rel: return "Largest relative difference from the left target";
    case Metric::max_ulp: return "Largest difference from the left target, in floats between";
    case Metric::different: return "Elements with other bits than the left target's";
    case Metric::cosine: return "Cosine of the angle to the left target's tensor";
    case Metric::kl: return "Kullback-Leibler divergence from the left target, for distributions";
    case Metric::local_error:
      return "Largest absolute error that the layer makes by itself, from its own inputs";
    case Metric::time: return "Median time without the first run";
    case Metric::first_time: break;
  }
  return "Time of the first run, which warms up";
}

double metric_value(const Cell& cell, Metric metric) {
  const auto known = [](std::int64_t value, std::int64_t unknown) {
    return value == unknown ? not_measured : static_cast<double>(value);
  };
  switch (metric) {
    case Metric::budget_used: return cell.budget_used;
    case Metric::max_abs: return cell.max_abs;
    case Metric::max_rel: return cell.max_rel;
    case Metric::max_ulp: return cell.max_ulp;
    case Metric::different: return known(cell.different, -1);
    case Metric::cosine: return cell.cosine;
    case Metric::kl: return cell.kl;
    case Metric::local_error: return cell.local_error;
    case Metric::time: return known(cell.time_ns, 0);
    case Metric::first_time: break;
  }
  return known(cell.first_ns, 0);
}

std::string metric_text(const Cell& cell, Metric metric) {
  const double value = metric_value(cell, metric);
  if (std::isnan(value) && !(metric == Metric::max_abs && cell.compared)) return "–";
  switch (metric) {
    case Metric::max_ulp: return format_ulp(value);
    case Metric::different: return fmt::format("{}", cell.different);
    case Metric::cosine:
      if (value < 1.0 && value > 0.999999) return fmt::format("1 − {:.1e}", 1.0 - value);
      return fmt::format("{:.6f}", value);
    case Metric::time: return format_ns(cell.time_ns);
    case Metric::first_time: return format_ns(cell.first_ns);
    default: return format_number(value);
  }
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
  std::vector<std::uint32_t> rows;
  for (std::size_t i = 0; i < snapshot.layers.size(); ++i)
    if (passes(snapshot, i, words)) rows.push_back(static_cast<std::uint32_t>(i));
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
        values[i] = sort.by == SortBy::metric          ? metric_value(cell, sort.metric)
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

Table layer_table(const Snapshot& snapshot, const std::vector<std::uint32_t>& rows) {
  std::vector<std::string> cells = {"layer", "place", "op", "output", "shape", "bytes"};
  for (const TargetColumn& target : snapshot.targets) {
    cells.push_back(target.target + " verdict");
    for (int m = 0; m < metric_count; ++m)
      cells.push_back(fmt::format("{} {}", target.target, metric_name(static_cast<Metric>(m))));
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
      for (int m = 0; m < metric_count; ++m) {
        const double value = metric_value(cell, static_cast<Metric>(m));
        cells.push_back(std::isnan(value) ? "" : fmt::format("{}", value));
      }
    }
    table.push_back(cells);
  }
  return table;
}

}  // namespace driftscope::gui
