#include "core/study/study_tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/study/claim.hpp"

namespace driftscope {
namespace {

/// "–" of all that another variant or data set has.
std::string shown(const StudyView& view, const Measure& measure, std::string_view model, std::size_t target) {
  return view.figure(measure, model, target).text;
}

StudyTable claims_table(const StudyView& view) {
  StudyTable table{.id = "claims",
                   .title = "Claims of the study, checked here",
                   .note = "",
                   .columns = {"claim", "model", "target", "here", "evidence"},
                   .rows = {}};
  for (const documents::StudyClaim& claim : view.study().claims) {
    const std::vector<ClaimCheck> checks = check_claim(view, claim);
    if (checks.empty())
      table.rows.push_back({{claim.text, "", "", "cannot be checked",
                             fmt::format("no target of this run is on {}", fmt::join(claim.hosts, ", "))}});
    for (const ClaimCheck& check : checks)
      table.rows.push_back({{claim.text, check.model, check.target,
                             std::string(claim_answer_text(check.answer)), check.evidence}});
  }
  return table;
}

StudyTable measured_table(const StudyView& view) {
  StudyTable table{
      .id = "measured",
      .title = "Measured here",
      .note =
          "Accuracy with its 95 % interval (Wilson). Time: median of sessions of unwatched, steady "
          "inferences of one sample. Load: until the first inference could begin. "
          "Memory: on the PC of a process of its own, of browsers all their processes. Adversarials that "
          "were "
          "made once are data sets under the attack's name; fooled by them: of those whose originals every "
          "variant and target answers rightly.",
      .columns = {"model", "variant", "target", "data", "accuracy", "other class than first target",
                  "10,000 inferences", "first", "load", "memory", "size"},
      .rows = {}};
  for (const documents::StudyAttack& attack : view.study().attacks)
    table.columns.push_back("fooled by " + attack.name);
  for (const StudySubject& subject : view.subjects())
    for (std::size_t t = 0; t < view.targets().size(); ++t)
      for (const documents::StudyData& data : subject.data) {
        const auto cell = [&](MeasureKind kind) {
          return shown(view, {kind, data.name, subject.variant}, subject.model, t);
        };
        table.rows.push_back(
            {{subject.model, subject.variant, view.targets()[t], data.name, cell(MeasureKind::accuracy),
              cell(MeasureKind::misclassified), cell(MeasureKind::time), cell(MeasureKind::first),
              cell(MeasureKind::load), cell(MeasureKind::memory), cell(MeasureKind::size)}});
        for (const documents::StudyAttack& attack : view.study().attacks)
          table.rows.back().cells.push_back(
              &data == &subject.data.front()
                  ? shown(view, {MeasureKind::success, attack.name, subject.variant}, subject.model, t)
                  : "–");
      }
  return table;
}

/// Each of their rows, and below it ours: every target of the host that corresponds.
StudyTable published_table(const StudyView& view, const documents::PublishedTable& published,
                           bool as_published) {
  StudyTable table{.id = "table-" + published.name,
                   .title = fmt::format("Table {}: {}", published.name, published.title),
                   .note = published.note,
                   .columns = {"model", "where"},
                   .rows = {}};
  table.columns.insert(table.columns.end(), published.columns.begin(), published.columns.end());
  for (const documents::PublishedRow& row : published.rows) {
    StudyTable::Row theirs{{row.model, row.on}, true};
    const bool corrected = !row.slip.empty() && !as_published;
    const std::vector<std::string>& cells = corrected ? row.corrected : row.cells;
    theirs.cells.insert(theirs.cells.end(), cells.begin(), cells.end());
    table.rows.push_back(std::move(theirs));
    if (!row.slip.empty())
      table.note += fmt::format(
          "{}{}, {}: {} {}; {}.", table.note.empty() ? "" : " ", row.model, row.on,
          corrected ? "corrected; printed as" : "a slip, reprinted:", fmt::join(row.cells, ", "), row.slip);
    const auto here =
        row.host.empty() || row.of.empty() ? std::vector<std::size_t>() : view.targets_on(row.host);
    for (const std::size_t target : here) {
      StudyTable::Row ours{{row.of, view.targets()[target]}};
      for (const std::string& text : published.measures) {
        const auto measure = parse_measure(text);
        ours.cells.push_back(measure.ok() ? shown(view, *measure, row.of, target) : "");
      }
      table.rows.push_back(std::move(ours));
    }
    if (!here.empty()) continue;
    StudyTable::Row reason{{"", "not here"}};
    reason.cells.push_back(!row.why_not.empty() ? row.why_not
                           : row.of.empty()     ? "this study has no such model here"
                                                : "no target of this run is on " + row.host);
    reason.cells.resize(table.columns.size());
    table.rows.push_back(std::move(reason));
  }
  return table;
}

bool looks_like_a_formula(std::string_view cell) {
  return !cell.empty() && std::string_view("=+-@\t\r").find(cell[0]) != std::string_view::npos;
}

std::string csv_cell(const std::string& cell) {
  const std::string safe = looks_like_a_formula(cell) ? "'" + cell : cell;
  if (safe.find_first_of(",\"\n\r") == std::string::npos) return safe;
  std::string quoted = "\"";
  for (const char c : safe) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string latex_cell(const std::string& cell) {
  std::string text;
  for (const char c : cell) {
    switch (c) {
      case '&':
      case '%':
      case '$':
      case '#':
      case '_':
      case '{':
      case '}': text += '\\', text += c; break;
      case '\\': text += "\\textbackslash{}"; break;
      case '~': text += "\\textasciitilde{}"; break;
      case '^': text += "\\textasciicircum{}"; break;
      default: text += c;
    }
  }
  return text;
}

std::string csv_line(const std::vector<std::string>& cells, std::string_view whose) {
  std::string line;
  for (const std::string& cell : cells) line += csv_cell(cell) + ",";
  return line + std::string(whose) + "\n";
}

}  // namespace

std::vector<StudyTable> study_tables(const StudyView& view, bool as_published) {
  std::vector<StudyTable> tables;
  if (!view.study().claims.empty()) tables.push_back(claims_table(view));
  tables.push_back(measured_table(view));
  for (const documents::PublishedTable& published : view.study().tables)
    tables.push_back(published_table(view, published, as_published));
  for (std::size_t l = 0; l < view.study().layers.size(); ++l)
    for (StudyTable& table : layer_tables(view, l)) tables.push_back(std::move(table));
  return tables;
}

std::string study_text(const StudyView& view, const std::vector<StudyTable>& tables) {
  std::string text = fmt::format("{}\n{}\n", view.study().title, view.study().about);
  for (const StudyTable& table : tables) {
    text += fmt::format("\n{}\n", table.title);
    std::vector<std::size_t> widths(table.columns.size());
    // Characters, not bytes.
    const auto width = [](std::string_view cell) {
      return static_cast<std::size_t>(std::ranges::count_if(
          cell, [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
    };
    const auto widen = [&](const std::vector<std::string>& cells) {
      for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], width(cells[i]));
    };
    widen(table.columns);
    for (const StudyTable::Row& row : table.rows)
      if (row.cells.size() == widths.size() && row.cells.at(1) != "not here") widen(row.cells);
    const auto line = [&](const std::vector<std::string>& cells, std::string_view mark) {
      std::string out(mark);
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::size_t used = width(cells[i]);
        out += cells[i] + std::string(used < widths[i] ? widths[i] - used : 0, ' ') + "  ";
      }
      out.resize(out.find_last_not_of(' ') + 1);
      text += out + "\n";
    };
    line(table.columns, "  ");
    for (const StudyTable::Row& row : table.rows) line(row.cells, row.published ? "· " : "  ");
    if (std::ranges::any_of(table.rows, &StudyTable::Row::published)) text += "  · as published\n";
    if (!table.note.empty()) text += fmt::format("  {}\n", table.note);
  }
  return text;
}

std::string table_csv(const StudyTable& table) {
  std::string text = csv_line(table.columns, "whose");
  for (const StudyTable::Row& row : table.rows)
    text += csv_line(row.cells, row.published ? "published" : "here");
  return text;
}

std::string table_latex(const StudyTable& table) {
  std::string text = fmt::format("% {}\n\\begin{{tabular}}{{{}}}\n\\toprule\n", table.title,
                                 std::string(table.columns.size(), 'l'));
  const auto line = [&](const std::vector<std::string>& cells, bool grey) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      text += fmt::format("{}{}{}", i > 0 ? " & " : "", grey ? "\\color{gray}" : "", latex_cell(cells[i]));
    text += " \\\\\n";
  };
  line(table.columns, false);
  text += "\\midrule\n";
  for (const StudyTable::Row& row : table.rows) line(row.cells, row.published);
  return text + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace driftscope
