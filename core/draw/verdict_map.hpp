// A map of verdicts: a row for each layer, a column for each step. Clients: the page of a generation.
#pragma once

#include <string>
#include <vector>

#include "core/draw/painter.hpp"
#include "core/draw/theme.hpp"

namespace driftscope {

struct VerdictMap {
  std::vector<std::string> rows;
  /// Of each column its verdicts, one for each row.
  std::vector<std::vector<Verdict>> columns;
  /// A wider gap before these columns, and what stands above it: where a prompt begins.
  struct Start {
    std::size_t column = 0;
    std::string title;
  };
  std::vector<Start> starts;
  /// Columns that are marked in the row on top: where a token differs.
  std::vector<std::size_t> marked;
};

struct MapSize {
  float width = 0.0f;
  float height = 0.0f;
};
[[nodiscard]] MapSize verdict_map_size(const VerdictMap& map);

/// From the left upper corner. Worse verdicts have a shape beside their colour.
void paint_verdict_map(Painter& painter, const VerdictMap& map, const Theme& theme);

}  // namespace driftscope
