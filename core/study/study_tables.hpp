// The tables of a study: what was measured, the published tables with their rows beside ours, and the claims.
// Pure functions of a view. Clients: the report, the study command.
#pragma once

#include <string>
#include <vector>

#include "core/study/study_view.hpp"

namespace driftscope {

struct StudyTable {
  struct Row {
    std::vector<std::string> cells;
    bool published = false;  ///< theirs, not measured here
  };
  std::string id;  ///< in names of files: "table-IV"
  std::string title;
  std::string note;
  std::vector<std::string> columns;
  std::vector<Row> rows;
};

/// Claims first, then all that was measured, then the published tables in their order, then values of layers.
/// `as_published`: slips of the study are reprinted instead of corrected; the note says so either way.
[[nodiscard]] std::vector<StudyTable> study_tables(const StudyView& view, bool as_published = false);

/// One for each published layer, and one of the layers that differ first.
[[nodiscard]] std::vector<StudyTable> layer_tables(const StudyView& view, std::size_t layers);

[[nodiscard]] std::string study_text(const StudyView& view, const std::vector<StudyTable>& tables);
/// RFC 4180; a cell that a spreadsheet would take for a formula begins with an apostrophe.
[[nodiscard]] std::string table_csv(const StudyTable& table);
/// A tabular of booktabs; published rows in grey (xcolor).
[[nodiscard]] std::string table_latex(const StudyTable& table);

}  // namespace driftscope
