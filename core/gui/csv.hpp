// The contents of a view, as a table to copy or save. Clients: the views.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace driftscope::gui {

/// Rows of cells, the titles first; all of the same length.
using Table = std::vector<std::vector<std::string>>;

/// Columns of text with blanks between, for a message or an issue.
[[nodiscard]] std::string plain_text(const Table& table);

/// RFC 4180.
[[nodiscard]] std::string csv_text(const Table& table);

/// One line, ending in CR LF; cells with commas, quotes or line breaks are quoted. A cell that a
/// spreadsheet would interpret as a formula is marked as text: names come from model files.
[[nodiscard]] std::string csv_line(std::span<const std::string> cells);

}  // namespace driftscope::gui
