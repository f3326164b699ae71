// A map of verdicts: a row for each layer, a column for each step. Clients: the page of a generation, the
// view Generation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/draw/painter.hpp"
#include "core/draw/theme.hpp"

namespace driftscope {

/// What stands above a column where there is room for words.
struct VerdictMapHead {
  std::string step = {};              ///< "12"
  std::string text = {};              ///< what was chosen
  std::string instead = {};           ///< what should have been; empty: the same
  Verdict judged = Verdict::missing;  ///< why not the same
  double level = -1.0;                ///< of a bar, 0 to 1; negative: none
};

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
  /// Of each column; empty: columns are narrow and have none.
  std::vector<VerdictMapHead> heads = {};
  std::string bars = {};  ///< what the bars of the heads are
};

struct MapSize {
  float width = 0.0f;
  float height = 0.0f;
};
/// `unit`: as of the painter.
[[nodiscard]] MapSize verdict_map_size(const VerdictMap& map, float unit = 1.0f);

/// A part of the map in a box: rows and columns are scrolled, names and heads are not.
struct VerdictMapPart {
  Box box;
  Point scrolled;
};

/// From the left upper corner, or a part. Worse verdicts have a shape beside their colour.
void paint_verdict_map(Painter& painter, const VerdictMap& map, const Theme& theme,
                       const std::optional<VerdictMapPart>& part = {});

/// What a point of it shows: a column of the map or of the heads, a row of the map or of the names.
struct VerdictMapPlace {
  std::optional<std::size_t> column;
  std::optional<std::size_t> row;
};
[[nodiscard]] VerdictMapPlace verdict_map_place(const VerdictMap& map, const VerdictMapPart& part, Point at,
                                                float unit);

/// How far a part is scrolled that shows this cell behind some others.
[[nodiscard]] Point verdict_map_scroll(const VerdictMap& map, std::size_t column, std::size_t row,
                                       float unit);

}  // namespace driftscope
