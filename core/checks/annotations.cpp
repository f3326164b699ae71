#include "core/checks/annotations.hpp"

#include <fmt/format.h>

#include "core/base/format.hpp"

namespace driftscope {
namespace {

constexpr std::size_t shown_by_github = 10;
constexpr std::size_t max_lines = 50;
constexpr std::size_t longest_message = 2000;

/// Escapes of actions/toolkit, packages/core/src/command.ts: a property ends at ',' and ':' as well.
std::string command_escape(std::string_view text, bool property) {
  std::string escaped;
  for (const char c : text) {
    if (c == '%')
      escaped += "%25";
    else if (c == '\r')
      escaped += "%0D";
    else if (c == '\n')
      escaped += "%0A";
    else if (property && c == ':')
      escaped += "%3A";
    else if (property && c == ',')
      escaped += "%2C";
    else
      escaped += c;
  }
  return escaped;
}

/// The log has what is left out.
std::string shortened(const std::string& message) {
  const std::string text = elide(message, longest_message);
  return text == message ? text : text + " (in full in the log)";
}

std::string annotation(std::string_view level, const std::string& file, const CheckCase& one) {
  return fmt::format("::{} file={},title={}::{}\n", level, command_escape(file, true),
                     command_escape(one.target + ": " + one.name, true),
                     command_escape(shortened(one.message), false));
}

/// For a cell of a Markdown table: no markup, no end of cell or line.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      escaped += ' ';
      continue;
    }
    if (std::string_view("|`*_[]<>\\").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string target_row(const CheckReport& checks, const TargetResult& target) {
  std::size_t failed = 0;
  std::size_t count = 0;
  for (const CheckCase& one : checks.cases) {
    if (one.target != target.target) continue;
    ++count;
    failed += one.outcome == CheckOutcome::failed || one.outcome == CheckOutcome::error ? 1 : 0;
  }
  const std::string verdict =
      target.verification ? verdict_text(target.verification->verdict) : "✗ did not run";
  const std::string differs = !target.comparison ? "–"
                              : target.comparison->first_divergence
                                  ? cell(*target.comparison->first_divergence)
                                  : "none";
  return fmt::format("| {} | {} | {} | {} of {} |\n", cell(target.target), verdict, differs, failed, count);
}

}  // namespace

std::string github_annotations(const CheckReport& checks, const std::string& model_path) {
  std::string text;
  const auto add_level = [&](std::string_view level, const auto& belongs) {
    std::size_t all = 0;
    for (const CheckCase& one : checks.cases) all += belongs(one) ? 1 : 0;
    std::size_t shown = 0;
    for (const CheckCase& one : checks.cases) {
      if (!belongs(one)) continue;
      ++shown;
      if (shown == shown_by_github && all > shown_by_github) {
        text += annotation(level, model_path,
                           {"driftscope", fmt::format("{} more", all - shown + 1), CheckOutcome::failed, "",
                            "see the log, the JUnit file or the report", 0});
        break;
      }
      text += annotation(level, model_path, one);
    }
  };
  add_level("error", [](const CheckCase& one) {
    return one.outcome == CheckOutcome::failed || one.outcome == CheckOutcome::error;
  });
  add_level("warning", [](const CheckCase& one) {
    return one.outcome == CheckOutcome::passed && (one.kind == "fault" || one.kind == "suspect");
  });
  add_level("notice",
            [](const CheckCase& one) { return one.outcome == CheckOutcome::skipped && !one.kind.empty(); });
  return text;
}

std::string github_summary(const CheckReport& checks, const ComparisonView& view) {
  const bool fine = !checks.failed() && checks.count(CheckOutcome::error) == 0;
  std::string text = fmt::format("### {} Driftscope: {}\n\n{}\n\n", fine ? "✅" : "❌", cell(view.model_name),
                                 cell(shortened(headline(view))));
  text += "| target | verdict | first difference | failed |\n|---|---|---|---|\n";
  text += target_row(checks, view.left);
  std::size_t lines = 0;
  for (const TargetResult& right : view.right)
    if (++lines <= max_lines) text += target_row(checks, right);
  text += fmt::format("\nFails on `{}`.\n", fail_on_text(checks.conditions));
  lines = 0;
  for (const CheckCase& one : checks.cases) {
    if (one.outcome != CheckOutcome::failed && one.outcome != CheckOutcome::error) continue;
    if (++lines > max_lines) continue;
    text += fmt::format("- **{}** {}: {}\n", cell(one.target), cell(one.name), cell(shortened(one.message)));
  }
  if (lines > max_lines) text += fmt::format("- … and {} more\n", lines - max_lines);
  return text + "\n";
}

}  // namespace driftscope
