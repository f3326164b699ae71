#include "core/gui/csv.hpp"

#include <cstdlib>

#include "core/report/text_table.hpp"

namespace driftscope::gui {
namespace {

bool looks_like_formula(const std::string& cell) {
  if (cell.empty() || std::string_view("=+-@\t\r").find(cell.front()) == std::string_view::npos) return false;
  char* end = nullptr;
  std::strtod(cell.c_str(), &end);  // a negative number is not a formula
  return *end != '\0';
}

}  // namespace

std::string plain_text(const Table& table) {
  if (table.empty()) return {};
  TextTable text;
  for (std::size_t i = 0; i < table.front().size(); ++i)
    text.column(table.front()[i], i == 0 ? Align::left : Align::right);
  for (std::size_t row = 1; row < table.size(); ++row) text.row(table[row]);
  return text.text();
}

std::string csv_text(const Table& table) {
  std::string text;
  for (const auto& row : table) text += csv_line(row);
  return text;
}

std::string csv_line(std::span<const std::string> cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += ',';
    const std::string cell = looks_like_formula(cells[i]) ? "'" + cells[i] : cells[i];
    if (cell.find_first_of(",\"\r\n") == std::string::npos) {
      line += cell;
      continue;
    }
    line += '"';
    for (const char c : cell) line += c == '"' ? "\"\"" : std::string(1, c);
    line += '"';
  }
  return line + "\r\n";
}

}  // namespace driftscope::gui
