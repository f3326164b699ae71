// The machine, and what really ran on each host.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/format.hpp"
#include "core/base/json.hpp"
#include "core/report/section.hpp"

namespace driftscope::sections::environment {
namespace {

constexpr std::size_t max_facts = 40;

/// A trace's description of its run, the most informative keys first.
std::vector<std::string> fact_keys(const std::vector<nlohmann::json>& runs) {
  constexpr std::array<const char*, 12> first = {
      "engine",       "browser_version", "browser",      "platform", "device",  "instruction_set",
      "threads_real", "threads_asked",   "wasm_variant", "isolated", "options", "start_time"};
  // Findings about the runs are shown elsewhere.
  constexpr std::array<std::string_view, 4> findings = {"memory_runs", "observer_check", "repeat_check",
                                                        "times"};
  std::vector<std::string> keys;
  const auto add = [&](const std::string& key) {
    const bool known = std::ranges::any_of(
        runs, [&](const nlohmann::json& run) { return run.is_object() && run.contains(key); });
    if (known && std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
  };
  for (const char* key : first) add(key);
  for (const nlohmann::json& run : runs) {
    if (!run.is_object()) continue;
    for (const auto& [key, value] : run.items())
      if (keys.size() < max_facts && std::ranges::find(findings, key) == findings.end()) add(key);
  }
  return keys;
}

std::string fact_text(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.empty()) return "–";
  return json_text(value);
}

std::string spaced(std::string key) {
  std::ranges::replace(key, '_', ' ');
  return key;
}

std::string machine_rows(const ComparisonView& view) {
  const auto machine = parse_json(view.machine);
  std::string html =
      "<dl><dt>Driftscope</dt><dd>" + (view.build.empty() ? "–" : html_text("build " + view.build)) + "</dd>";
  if (!machine.is_object()) return html + "</dl>";
  for (const auto& [key, value] : machine.items()) {
    if (key == "load_1min" || key == "busy_share") continue;
    const bool bytes = key == "memory_bytes" && value.is_number_integer();
    html += fmt::format("<dt>{}</dt><dd>{}</dd>", bytes ? "memory" : html_text(spaced(key), 40),
                        bytes ? format_bytes(value.get<std::int64_t>()) : html_text(fact_text(value), 200));
  }
  return html + "</dl>";
}

std::string write(const SectionContext& context) {
  const ComparisonView& view = context.view;
  const auto all = first_targets(view);
  std::vector<nlohmann::json> runs;
  for (const TargetResult* target : all)
    runs.push_back(target->trace ? parse_json(target->trace->run) : nlohmann::json());
  const auto keys = fact_keys(runs);
  if (keys.size() >= max_facts) context.left_out.push_back("facts of the hosts beyond the first forty.");
  std::string html = open_section("environment", "Environment") + machine_rows(view);
  if (!keys.empty()) {
    html += open_table("What really ran on each host", "facts") + "<tr><th scope=\"col\">what ran</th>" +
            column_heads(all) + "</tr>";
    for (const std::string& key : keys) {
      html += "<tr><th scope=\"row\">" + html_text(spaced(key), 40) + "</th>";
      for (const nlohmann::json& run : runs)
        html += "<td class=\"text wrap\">" +
                (run.is_object() && run.contains(key) ? html_text(fact_text(run[key]), 160) : "–") + "</td>";
      html += "</tr>";
    }
    html += "</table></div>";
  }
  return html + "</section>";
}

}  // namespace

void add_to(SectionTable& table) { table.add({80, write}); }

}  // namespace driftscope::sections::environment
