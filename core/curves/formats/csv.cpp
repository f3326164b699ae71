// CSV with a header, in two forms:
//   wide   a column of steps (epoch, step, iteration or batch; else rows are counted from 1), a column for
// each metric,
//          optionally run, repetition or seed; an empty cell has no point, as loggers write it
//   long   the columns run, metric, repetition, step, value, which `curves --csv` writes
// Separated by commas, semicolons or tabs; quotes as RFC 4180 has them, without line breaks in cells.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "core/base/text.hpp"
#include "core/curves/curve_format.hpp"

namespace driftscope::curve_formats::csv {
namespace {

constexpr std::size_t max_columns = 2'000;

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

char separator_of(std::string_view header) {
  for (const char c : {'\t', ';', ','})
    if (header.find(c) != std::string_view::npos) return c;
  return ',';
}

/// The cells of a line; nothing: a quote is not closed.
std::optional<std::vector<std::string>> cells_of(std::string_view line, char separator) {
  std::vector<std::string> cells;
  while (true) {
    std::string cell;
    std::string_view rest = trimmed(line);
    if (separator == '\t') rest = line;
    if (!rest.empty() && rest.front() == '"') {
      rest.remove_prefix(1);
      while (true) {
        const std::size_t quote = rest.find('"');
        if (quote == std::string_view::npos) return {};
        cell += rest.substr(0, quote);
        rest.remove_prefix(quote + 1);
        if (rest.empty() || rest.front() != '"') break;
        cell += '"';
        rest.remove_prefix(1);
      }
      const std::size_t end = rest.find(separator);
      cells.push_back(std::move(cell));
      if (end == std::string_view::npos) return cells;
      line = rest.substr(end + 1);
      continue;
    }
    const std::size_t end = line.find(separator);
    cells.emplace_back(trimmed(line.substr(0, end)));
    if (end == std::string_view::npos || cells.size() > max_columns) return cells;
    line.remove_prefix(end + 1);
  }
}

std::string lower_case_of(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return lower;
}

/// What the columns of a file are.
struct Columns {
  std::vector<std::string> names;
  std::optional<std::size_t> run, repetition, step, metric, value;
  [[nodiscard]] bool is_long() const { return metric && value; }
  [[nodiscard]] bool is_label(std::size_t i) const {
    return i == run || i == repetition || i == step || i == metric || (is_long() && i == value);
  }
};

Columns columns_of(std::vector<std::string> names) {
  Columns columns;
  columns.names = std::move(names);
  const auto find = [&](std::initializer_list<std::string_view> words) -> std::optional<std::size_t> {
    for (const std::string_view word : words)
      for (std::size_t i = 0; i < columns.names.size(); ++i)
        if (lower_case_of(columns.names[i]) == word) return i;
    return {};
  };
  columns.run = find({"run", "framework", "name"});
  columns.repetition = find({"repetition", "seed", "repeat"});
  columns.step = find({"step", "epoch", "global_step", "iteration", "iter", "batch"});
  columns.metric = find({"metric", "tag"});
  columns.value = find({"value"});
  if (!columns.is_long()) columns.metric.reset();
  return columns;
}

bool fits(const CurveSource& source) {
  std::string_view text = source.text();
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::string_view header = next_line(text).substr(0, 10'000);
  return printable(header) && !header.empty() && !trimmed(header).starts_with('{') &&
         !trimmed(header).starts_with('[') && !text.empty();
}

class CsvReader {
 public:
  CsvReader(const CurveSource& source, Columns columns)
      : run_(source.run), columns_(std::move(columns)), wide_(columns_.names.size()) {}

  Status row(const std::vector<std::string>& cells, std::int64_t line) {
    if (cells.size() != columns_.names.size())
      return bad_input(fmt::format("line {}: {} cells, the header has {}: {}", line, cells.size(),
                                   columns_.names.size(), in_quotes(cells.front())));
    ++rows_;
    double step = static_cast<double>(rows_);
    if (columns_.step) {
      DRIFTSCOPE_TRY(step, number(cells, *columns_.step, line));
      if (!std::isfinite(step))
        return bad_input(fmt::format("line {}: the step {} is not finite", line, cells[*columns_.step]));
    }
    std::int64_t repetition = 0;
    if (columns_.repetition) {
      DRIFTSCOPE_TRY(const double given, number(cells, *columns_.repetition, line));
      if (!(std::fabs(given) < 9e15) || given != std::floor(given))
        return bad_input(fmt::format("line {}: {} {}: expected a whole number", line,
                                     columns_.names[*columns_.repetition], cells[*columns_.repetition]));
      repetition = static_cast<std::int64_t>(given);
    }
    const std::string& run = columns_.run && !cells[*columns_.run].empty() ? cells[*columns_.run] : run_;
    if (columns_.is_long())
      return point(run, cells[*columns_.metric], repetition, step, cells, *columns_.value, line);
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (!columns_.is_label(i) && !cells[i].empty() && !wide_[i].text)
        DRIFTSCOPE_CHECK(point(run, columns_.names[i], repetition, step, cells, i, line));
    return {};
  }

  Result<CurveFile> finish() && {
    for (std::size_t i = 0; i < wide_.size(); ++i)
      if (wide_[i].text)
        file_.notes.push_back(
            fmt::format("column {} has words and was passed over", in_quotes(columns_.names[i])));
    return std::move(file_);
  }

 private:
  struct WideColumn {
    bool number = false;  ///< has had one
    bool text = false;    ///< its first cell is none: a column of words
  };

  Result<double> number(const std::vector<std::string>& cells, std::size_t column, std::int64_t line) const {
    double value = 0.0;
    if (parse_curve_number(cells[column], value)) return value;
    return bad_input(fmt::format("line {}, column {}: expected a number, found {}", line,
                                 in_quotes(columns_.names[column]), in_quotes(cells[column])));
  }

  Status point(const std::string& run, const std::string& metric, std::int64_t repetition, double step,
               const std::vector<std::string>& cells, std::size_t column, std::int64_t line) {
    double value = 0.0;
    if (!parse_curve_number(cells[column], value)) {
      if (!columns_.is_long() && !wide_[column].number) return wide_[column].text = true, Status();
      return number(cells, column, line).held();
    }
    wide_[column].number = true;
    const auto [found, is_new] = place_.try_emplace({run, metric, repetition}, file_.curves.size());
    if (is_new) file_.curves.push_back({run, metric, repetition, {}, {}});
    Curve& curve = file_.curves[found->second];
    curve.steps.push_back(step);
    curve.values.push_back(value);
    if (file_.curves.size() > max_curves || ++points_ > max_curve_points)
      return limit_error(fmt::format("line {}: more than {} curves or {} points; split the file", line,
                                     max_curves, max_curve_points));
    return {};
  }

  std::string run_;
  Columns columns_;
  std::vector<WideColumn> wide_;
  std::map<std::tuple<std::string, std::string, std::int64_t>, std::size_t> place_;
  std::size_t points_ = 0;
  std::int64_t rows_ = 0;
  CurveFile file_;
};

Result<CurveFile> read(const CurveSource& source) {
  std::string_view text = source.text();
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::string_view header = next_line(text);
  const char separator = separator_of(header);
  auto names = cells_of(header, separator);
  double unused = 0.0;
  if (!names || names->size() > max_columns ||
      std::ranges::any_of(*names, [&](const std::string& name) { return parse_curve_number(name, unused); }))
    return bad_input(
        fmt::format("line 1: expected a header such as epoch,loss,accuracy, found {}", in_quotes(header)));
  CsvReader reader(source, columns_of(*std::move(names)));
  for (std::int64_t line = 2; !text.empty(); ++line) {
    const std::string_view whole = next_line(text);
    if (trimmed(whole).empty() || trimmed(whole).starts_with('#')) continue;
    const auto cells = cells_of(whole, separator);
    if (!cells) return bad_input(fmt::format("line {}: a quote is not closed: {}", line, in_quotes(whole)));
    DRIFTSCOPE_CHECK(reader.row(*cells, line));
  }
  return std::move(reader).finish();
}

}  // namespace

void add_to(CurveFormatTable& table) {
  table.add({.order = 90, .name = "csv", .what = "CSV with a header", .fits = fits, .read = read});
}

}  // namespace driftscope::curve_formats::csv
