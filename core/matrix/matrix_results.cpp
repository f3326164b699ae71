#include "core/matrix/matrix_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/format.hpp"
#include "core/base/json.hpp"
#include "core/base/json_lists.hpp"
#include "core/base/text.hpp"
#include "core/report/text_table.hpp"
#include "core/wall/history.hpp"
#include "core/wall/read_runs.hpp"

namespace driftscope {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_error = 2000;
constexpr std::size_t most_name = 60;
constexpr std::size_t most_listed = 40;

const wall::StateRow& row_named(const std::string& name) {
  const auto found = std::ranges::find(wall::state_rows, name, &wall::StateRow::name);
  return found == wall::state_rows.end() ? wall::row_of(wall::State::missing) : *found;
}

std::string cell_text(const documents::MatrixCell& cell) {
  std::string text(row_named(cell.state).text);
  // Others are of watched runs, or of layers alone: no times of the target.
  if (cell.time_kind == time_kind_name(TimeKind::unwatched) && cell.time_ns && *cell.time_ns > 0)
    text += "  " + format_ns(static_cast<std::int64_t>(*cell.time_ns));
  if (cell.same_answer && !*cell.same_answer) text += ", other answer";
  return text;
}

template <class T>
void add_once(std::vector<T>& list, const T& one) {
  if (std::ranges::find(list, one) == list.end()) list.push_back(one);
}

std::string table_of(const std::string& model, const std::vector<const documents::MatrixCell*>& cells) {
  std::vector<std::string> data, targets;
  std::map<std::pair<std::string, std::string>, std::string> texts;
  for (const documents::MatrixCell* const cell : cells) {
    add_once(data, cell->data);
    add_once(targets, cell->target);
    texts[{cell->target, cell->data}] = cell_text(*cell);
  }
  TextTable table;
  table.column(plain_text(model, most_name), Align::left);
  for (const std::string& one : data) table.column(plain_text(without_folders(one), most_name), Align::left);
  for (const std::string& target : targets) {
    std::vector<std::string> row = {plain_text(target, most_name)};
    for (const std::string& one : data) {
      const auto found = texts.find({target, one});
      row.push_back(found == texts.end() ? "" : found->second);
    }
    table.row(std::move(row));
  }
  return table.text() + "\n";
}

std::string bad_line(const documents::MatrixCell& cell) {
  std::string text = fmt::format("{} on {}, {}: {}", plain_text(cell.model, most_name),
                                 plain_text(without_folders(cell.data), most_name),
                                 plain_text(cell.target, most_name), row_named(cell.state).text);
  if (!cell.first_bad.empty())
    text += fmt::format(" in {} ({}), largest error {}", plain_text(cell.first_bad, most_name),
                        plain_text(cell.op, most_name), format_number(cell.max_abs.value_or(0.0)));
  if (!cell.error.empty()) text += ": " + plain_text(cell.error, whole_text);
  return text + "\n";
}

std::string bad_lines(const documents::MatrixResults& results) {
  std::string text;
  std::size_t bad = 0;
  for (const documents::MatrixCell& cell : results.cells)
    if (is_bad(cell) && bad++ < most_listed) text += bad_line(cell);
  if (bad > most_listed) text += fmt::format("and {} more\n", bad - most_listed);
  return text;
}

/// "3 of 5 cells: 1 rounding, 2 fault".
std::string summary(const documents::MatrixResults& results, std::string_view what) {
  std::map<std::string, std::int64_t> counts;
  for (const documents::MatrixCell& cell : results.cells) ++counts[cell.state];
  std::string text = fmt::format("{} of {} {}", results.cells.size(), results.total, what);
  const char* separator = ": ";
  for (const wall::StateRow& row : wall::state_rows)
    if (const auto found = counts.find(std::string(row.name)); found != counts.end()) {
      text += fmt::format("{}{} {}", separator, found->second,
                          row.state == wall::State::failed ? "did not run" : row.name);
      separator = ", ";
    }
  return text;
}

documents::MatrixCell cell_of_run(const wall::Run& run) {
  documents::MatrixCell cell;
  cell.state = wall::row_of(run.state).name;
  cell.error = run.error;
  if (run.bad) {
    cell.first_bad = run.bad->node;
    cell.op = run.bad->op;
    cell.max_abs = run.bad->max_abs;
  }
  cell.first_divergence = run.first_divergence;
  cell.same_answer = run.same_answer;
  if (run.time.kind != TimeKind::unknown) {
    cell.time_ns = run.time.ns;
    cell.time_kind = time_kind_name(run.time.kind);
  }
  cell.peak_bytes = run.peak_bytes;
  cell.release = wall::release_text(run);
  cell.system = run.system;
  cell.device = run.device;
  return cell;
}

}  // namespace

Result<documents::MatrixCell> cell_of_comparison(std::string_view json) {
  DRIFTSCOPE_TRY(const std::vector<wall::Run> runs, wall::read_runs(json, "", ""));
  if (runs.size() != 2)
    return bad_input(fmt::format("expected the comparison of two targets, got {}", runs.size()));
  documents::MatrixCell cell = cell_of_run(runs[1]);
  // Without the left target there is nothing to compare with, and the cell says nothing about its own.
  if (const wall::Run& left = runs[0]; left.state == wall::State::failed) {
    cell.state = wall::row_of(wall::State::failed).name;
    cell.error = fmt::format("{}: {}", left.target, left.error);
  }
  return cell;
}

Result<documents::MatrixCell> cell_of_verification(std::string_view json) {
  DRIFTSCOPE_TRY(const std::vector<wall::Run> runs, wall::read_runs(json, "", ""));
  const auto worst =
      std::ranges::max_element(runs, {}, [](const wall::Run& run) { return severity(run.state); });
  if (worst == runs.end()) return bad_input("expected a verification, got none");
  documents::MatrixCell cell = cell_of_run(*worst);
  cell.target = worst->target;
  return cell;
}

documents::MatrixCell failed_cell(std::string error) {
  documents::MatrixCell cell;
  cell.state = wall::row_of(wall::State::failed).name;
  if (error.size() > most_error) error.resize(most_error);
  cell.error = std::move(error);
  return cell;
}

bool cell_ran(const documents::MatrixCell& cell) {
  return cell.state != wall::row_of(wall::State::failed).name;
}

bool is_bad(const documents::MatrixCell& cell) { return cell.checked || !cell_ran(cell); }

// With sorted keys, as a store has it.
std::string cell_line(const documents::MatrixCell& cell) { return json_text(nlohmann::json(encode(cell))); }

Result<documents::MatrixCell> read_cell(std::string_view line) {
  DRIFTSCOPE_TRY(const ordered_json value, parse_document(line));
  documents::MatrixCell cell;
  DRIFTSCOPE_CHECK(read_json(value, JsonPath(), cell));
  return cell;
}

std::string matrix_text(const documents::MatrixResults& results) {
  std::string text;
  std::vector<std::string> models;
  std::map<std::string, std::vector<const documents::MatrixCell*>> by_model;
  for (const documents::MatrixCell& cell : results.cells) {
    add_once(models, cell.model);
    by_model[cell.model].push_back(&cell);
  }
  for (const std::string& model : models) text += table_of(model, by_model[model]);
  const std::string bad = bad_lines(results);
  return text + bad + (bad.empty() ? "" : "\n") + summary(results, "cells") + "; compared with " +
         plain_text(results.left, most_name) + "\n";
}

std::string verified_text(const documents::MatrixResults& results) {
  const std::string bad = bad_lines(results);
  return bad + (bad.empty() ? "" : "\n") + summary(results, "traces") + "\n";
}

}  // namespace driftscope
