// Tables of what layers answer to one sample.
#include <fmt/format.h>

#include "core/study/study_tables.hpp"

namespace driftscope {
namespace {

/// Why a target has no values; empty: it has.
std::string why_no_values(const LayersResult* result) {
  if (result != nullptr && result->values) return "";
  return result != nullptr && result->error ? *result->error : "not yet run";
}

/// Of an element; others are only titles.
bool is_place(std::string_view column) {
  return column.find_first_not_of("-0123456789") == std::string_view::npos;
}

StudyTable values_table(const StudyView& view, std::size_t place, std::size_t layer) {
  const documents::PublishedLayers& layers = view.study().layers[place];
  const documents::PublishedValues& values = layers.layers[layer];
  StudyTable table{.id = fmt::format("table-{}-{}", layers.name, layer + 1),
                   .title = fmt::format("Table {}: {}: {}", layers.name, layers.title, values.layer),
                   .note = layers.note,
                   .columns = {"model", "where"},
                   .rows = {}};
  table.columns.insert(table.columns.end(), values.columns.begin(), values.columns.end());
  for (const documents::PublishedRow& row : values.rows) {
    StudyTable::Row theirs{{row.model, row.on}, true};
    theirs.cells.insert(theirs.cells.end(), row.cells.begin(), row.cells.end());
    table.rows.push_back(std::move(theirs));
  }
  for (std::size_t t = 0; t < view.targets().size(); ++t) {
    const LayersResult* const result = view.layers(place, t);
    StudyTable::Row ours{{layers.model, view.targets()[t]}};
    const std::string missing = why_no_values(result);
    if (!missing.empty()) {
      ours.cells.push_back(missing);
    } else if (layer < result->values->values.size()) {
      const auto& got = result->values->values[layer];
      for (std::size_t i = 0; i < values.columns.size(); ++i)
        ours.cells.push_back(i < got.size() && got[i]      ? fmt::format("{:.9g}", *got[i])
                             : is_place(values.columns[i]) ? "–"
                                                           : values.columns[i]);
    }
    ours.cells.resize(table.columns.size());
    table.rows.push_back(std::move(ours));
  }
  return table;
}

StudyTable first_differences(const StudyView& view, std::size_t place) {
  const documents::PublishedLayers& layers = view.study().layers[place];
  StudyTable table{
      .id = fmt::format("table-{}-first", layers.name),
      .title = fmt::format("Table {}: the first layer that differs from {}", layers.name, view.targets()[0]),
      .note =
          "Of all values that both targets give, in the order of the graph: not the same bits. Difference: "
          "largest |Δ| ÷ largest |value| of the layer.",
      .columns = {"model", "where", "first", "difference there", "largest difference", "in",
                  "values that differ"},
      .rows = {}};
  for (std::size_t t = 1; t < view.targets().size(); ++t) {
    const LayersResult* const result = view.layers(place, t);
    StudyTable::Row row{{layers.model, view.targets()[t]}};
    if (const std::string missing = why_no_values(result); !missing.empty()) {
      row.cells.push_back(missing);
    } else {
      const LayerValues& got = *result->values;
      const std::string counted = fmt::format("{} of {}", got.different, got.compared);
      if (got.compared == 0)
        row.cells.insert(row.cells.end(), {"no values in common", "–", "–", "–", counted});
      else if (got.different == 0)
        row.cells.insert(row.cells.end(), {"none", "–", "–", "–", counted});
      else
        row.cells.insert(row.cells.end(),
                         {got.first, fmt::format("{:.1e}", got.first_difference),
                          fmt::format("{:.1e}", got.largest_difference), got.largest, counted});
    }
    row.cells.resize(table.columns.size());
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::vector<StudyTable> layer_tables(const StudyView& view, std::size_t layers) {
  std::vector<StudyTable> tables;
  for (std::size_t i = 0; i < view.study().layers[layers].layers.size(); ++i)
    tables.push_back(values_table(view, layers, i));
  if (view.targets().size() > 1) tables.push_back(first_differences(view, layers));
  return tables;
}

}  // namespace driftscope
