#include "core/folder/folder_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/format.hpp"
#include "core/report/text_table.hpp"
#include "core/verify/verdict.hpp"

namespace driftscope {
namespace folder_text_parts {
namespace {

using documents::Folder;
using documents::FolderCell;
using documents::FolderPart;
using documents::FolderVariant;

constexpr std::size_t name_width = 32;

std::string table_of(const FolderPart& part) {
  TextTable table;
  for (const char* const title :
       {"variant", "size", "target", "verdict", "prediction", "drift", "load", "run", "memory"})
    table.column(title, std::string_view(title) == "variant" || std::string_view(title) == "target" ||
                                std::string_view(title) == "verdict" ||
                                std::string_view(title) == "prediction"
                            ? Align::left
                            : Align::right);
  for (const FolderVariant& variant : part.variants) {
    std::vector<std::string> head = {plain_text(variant.name, name_width), format_bytes(variant.bytes)};
    if (variant.cells.empty())
      table.row(
          {head[0], head[1], "–", variant.error.empty() ? "–" : "did not run", "–", "–", "–", "–", "–"});
    for (const FolderCell& cell : variant.cells) {
      table.row({head[0], head[1], cell.target, cell_verdict(cell), prediction_text(cell),
                 cell.drift ? format_number(*cell.drift) : "–", load_text(cell), run_text(cell),
                 cell.peak_bytes ? format_bytes(*cell.peak_bytes) : "–"});
      head = {"", ""};
    }
  }
  return table.text();
}

/// A line for each reason: a target that is missing fails every variant for the same one.
std::string reasons_of(const FolderPart& part) {
  struct Reason {
    std::vector<std::string> names;
    std::string place;  // " on TARGET"
    std::string why;
  };
  std::vector<Reason> reasons;
  const auto add = [&](const std::string& name, const std::string& place, const std::string& why) {
    if (why.empty()) return;
    const auto same = std::ranges::find_if(
        reasons, [&](const Reason& one) { return one.place == place && one.why == why; });
    if (same != reasons.end())
      same->names.push_back(name);
    else
      reasons.push_back({{name}, place, why});
  };
  for (const FolderVariant& variant : part.variants) {
    const std::string name = plain_text(variant.name, name_width);
    add(name, "", variant.error);
    if (!variant.inputs.empty()) add(name, "", fmt::format("inputs: {}", fmt::join(variant.inputs, ", ")));
    for (const FolderCell& cell : variant.cells)
      add(name, " on " + cell.target, cell.error.empty() ? cell.no_answer : cell.error);
  }
  std::string text;
  for (const Reason& one : reasons)
    text += fmt::format("{}{}: {}\n", fmt::join(one.names, ", "), one.place, plain_text(one.why, whole_text));
  return text;
}

std::string excluded_of(const FolderPart& part) {
  std::string text;
  for (const auto& one : part.excluded)
    text += fmt::format("{}{}: {}", text.empty() ? "Excluded: " : "; ", plain_text(one.name, name_width),
                        plain_text(one.why, whole_text));
  return text.empty() ? text : text + ".\n";
}

}  // namespace
}  // namespace folder_text_parts

std::string prediction_text(const documents::FolderCell& cell) {
  if (!cell.same_prediction) return "–";
  if (*cell.same_prediction) return "same";
  if (cell.answers.value_or(0) > 1)
    return fmt::format("{} of {} differ", cell.different.value_or(0), *cell.answers);
  return "other";
}

std::string cell_verdict(const documents::FolderCell& cell) {
  const auto verdict = verdict_named(cell.verdict);
  if (!verdict) return cell.error.empty() ? "–" : "did not run";
  return fmt::format("{} {}", row_of(*verdict).mark, verdict_name(*verdict));
}

std::string load_text(const documents::FolderCell& cell) {
  if (!cell.load_ns) return "–";
  constexpr double resolution_ns = 1e8;  // how often a run is looked at
  return *cell.load_ns < resolution_ns ? "<0.1 s" : format_ns(static_cast<std::int64_t>(*cell.load_ns));
}

std::string run_text(const documents::FolderCell& cell) {
  return cell.run_ns ? format_ns(static_cast<std::int64_t>(*cell.run_ns)) : "–";
}

std::string folder_text(const documents::Folder& results) {
  using namespace folder_text_parts;
  std::string text;
  for (const FolderPart& part : results.parts) {
    text += fmt::format("{}{}{}\n\n", plain_text(part.name, whole_text), part.input.empty() ? "" : "  ",
                        plain_text(part.input, whole_text));
    text += table_of(part) + reasons_of(part);
    for (const std::string& note : part.notes)
      text += fmt::format("note: {}\n", plain_text(note, whole_text));
    text += fmt::format("\n{}\n{}\n", plain_text(part.conclusion, whole_text), excluded_of(part));
  }
  if (!results.not_recognised.empty()) {
    text += "Not recognised as a variant:";
    for (const std::string& one : results.not_recognised) text += " " + plain_text(one, 80);
    text += "\n";
  }
  return text;
}

}  // namespace driftscope
