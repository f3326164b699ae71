// Sections of the report: targets, outputs, data set, environment, how to reproduce.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/format.hpp"
#include "core/base/json.hpp"
#include "core/draw/bmp.hpp"
#include "core/draw/sample_picture.hpp"
#include "core/report/bar.hpp"
#include "core/report/report_sections.hpp"
#include "core/report/run_time_text.hpp"
#include "core/results/output.hpp"

namespace driftscope::report_sections {
namespace {

constexpr std::size_t max_classes = 10;
constexpr std::size_t max_facts = 40;

std::string section(const std::string& id, const std::string& title) {
  return fmt::format("<section aria-labelledby=\"{0}\"><h2 id=\"{0}\">{1}</h2>", id, title);
}

/// A table that scrolls by itself on a narrow screen, also by keyboard.
std::string open_table(const std::string& caption, const std::string& css_class = "") {
  return fmt::format(
      "<div class=\"scroll {1}\" tabindex=\"0\" role=\"group\" aria-label=\"{0}\"><table>"
      "<caption class=\"unseen\">{0}</caption>",
      caption, css_class);
}

std::string column_heads(const std::vector<const TargetResult*>& targets) {
  std::string html;
  for (const TargetResult* target : targets)
    html += "<th scope=\"col\">" + html_text(target->target, 60) + "</th>";
  return html;
}

std::string target_row(const TargetResult& target) {
  std::string html = "<tr><th scope=\"row\">" + html_text(target.target, 80) + "</th>";
  if (!target.trace)
    return html +
           "<td class=\"text v-fault\">✗ did not run</td><td class=\"text\">–</td><td>–</td><td>–</td>"
           "<td class=\"text\">–</td></tr>";
  const Verdict verdict = target.verification ? target.verification->verdict : Verdict::missing;
  html += fmt::format("<td class=\"text v-{}\">{}</td>", verdict_name(verdict),
                      html_escape(verdict_text(verdict)));
  std::string divergence = "–";
  if (target.comparison) divergence = html_text(target.comparison->first_divergence.value_or("none"), 40);
  const MemoryRecord peak = peak_memory(*target.trace);
  const RunTime time = run_time(target);
  html += fmt::format("<td class=\"text\">{}</td><td>{}</td><td>{} <span class=\"soft\">{}</span></td>",
                      divergence, html_text(short_run_time_text(time), 60), format_bytes(peak.bytes),
                      html_text(peak.kind, 30));
  html += "<td class=\"text wrap\">" + html_text(run_text(*target.trace), 200);
  html += fmt::format("<br><span class=\"soft\">whole model {}; {}</span>",
                      html_text(run_time_text(time), 1000), html_text(layer_times_text(time), 100));
  for (const std::string& note : target_notes(target))
    html += "<br><span class=\"soft\">" + html_text(note, max_reason) + "</span>";
  html += "</td>";
  return html + "</tr>";
}

std::string score_cell(const TargetResult& target, std::size_t place, std::int64_t index, bool percent) {
  const Tensor* output = target.trace ? answer(*target.trace) : nullptr;
  if (output == nullptr || output->dtype() != DType::float32 || index >= output->elements())
    return "<td>–</td>";
  const auto value = static_cast<double>(output->values<float>()[static_cast<std::size_t>(index)]);
  return percent
             ? fmt::format("<td>{:.3f} %{}</td>", 100.0 * value, bar(value, "wide " + series_class(place)))
             : fmt::format("<td>{:.6g}</td>", value);
}

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

}  // namespace

std::vector<const TargetResult*> first_targets(const ComparisonView& view) {
  std::vector<const TargetResult*> all = {&view.left};
  for (const TargetResult& right : view.right)
    if (all.size() < max_targets) all.push_back(&right);
  return all;
}

std::string targets(const ComparisonView& view, LeftOut& left_out) {
  std::string html =
      section("targets", "Targets") + open_table("Targets and their verdicts") +
      "<tr><th scope=\"col\">target</th><th scope=\"col\" class=\"text\">verdict</th>"
      "<th scope=\"col\" class=\"text\">first difference</th><th scope=\"col\">whole model</th>"
      "<th scope=\"col\">peak memory</th><th scope=\"col\" class=\"text\">ran</th></tr>";
  std::string errors;
  for (const TargetResult* target : first_targets(view)) {
    html += target_row(*target);
    if (target->error)
      errors += fmt::format("<p class=\"error\"><b>{}</b> {}</p>", html_text(target->target),
                            html_text(target->error->message, max_reason));
  }
  if (view.right.size() + 1 > max_targets)
    left_out.push_back(
        fmt::format("{} of {} targets.", view.right.size() + 1 - max_targets, view.right.size() + 1));
  return html + "</table></div>" + errors + "</section>";
}

std::string outputs(const ComparisonView& view) {
  const auto all = first_targets(view);
  const Tensor* guide = nullptr;
  std::string picture;
  for (const TargetResult* target : all) {
    if (!target->trace) continue;
    if (guide == nullptr) guide = answer(*target->trace);
    // A colour sample of 512×512 pixels would be a megabyte.
    if (picture.empty() && !target->trace->tensors.empty() &&
        target->trace->tensors.front().tensor.elements() <= 3 * 128 * 128)
      picture = bmp_data_uri(sample_picture(target->trace->tensors.front().tensor));
  }
  if (guide == nullptr) return "";
  const auto classes = top_classes(*guide, view.class_names, max_classes);
  if (classes.empty() && picture.empty()) return "";
  const bool percent = is_distribution(*guide);
  std::string html = section("answers", "Answers side by side") + "<div class=\"pair\">";
  if (!picture.empty()) {
    html += "<div><img class=\"sample\" alt=\"the input\" src=\"" + picture + "\">";
    if (!view.input_label.empty())
      html += "<p class=\"soft\">labelled " + html_text(view.input_label) + "</p>";
    html += "</div>";
  }
  if (!classes.empty()) {
    html +=
        open_table("Answers side by side") + "<tr><th scope=\"col\">class</th>" + column_heads(all) + "</tr>";
    for (const ClassScore& row : classes) {
      html += "<tr><th scope=\"row\">" + html_text(row.name, 60) + "</th>";
      for (std::size_t t = 0; t < all.size(); ++t) html += score_cell(*all[t], t, row.index, percent);
      html += "</tr>";
    }
    html += "</table></div>";
  }
  return html + "</div></section>";
}

std::string data_set(const ComparisonView& view) {
  if (!view.left.dataset) return "";
  std::string html = section("data-set", "Over the whole data set") + "<p class=\"soft\">" +
                     html_text(view.dataset_text, 200) + "</p>" + open_table("Data set") +
                     "<tr><th scope=\"col\">target</th><th scope=\"col\">correct</th>"
                     "<th scope=\"col\">accuracy</th><th scope=\"col\">same prediction as " +
                     html_text(view.left.target, 60) + "</th></tr>";
  const std::vector<const TargetResult*> all = first_targets(view);
  for (std::size_t t = 0; t < all.size(); ++t) {
    if (!all[t]->dataset) continue;
    const DatasetResult& result = *all[t]->dataset;
    const bool labelled = result.correct >= 0 && result.samples > 0;
    const double share =
        labelled ? static_cast<double>(result.correct) / static_cast<double>(result.samples) : 0.0;
    html +=
        fmt::format("<tr><th scope=\"row\">{}</th>{}<td>{} of {}</td></tr>", html_text(all[t]->target, 60),
                    labelled ? fmt::format("<td>{} of {}</td><td>{:.2f} %{}</td>", result.correct,
                                           result.samples, 100.0 * share, bar(share, series_class(t)))
                             : "<td>–</td><td>–</td>",
                    agreement(*view.left.dataset, result), result.samples);
  }
  return html + "</table></div></section>";
}

std::string environment(const ComparisonView& view, LeftOut& left_out) {
  const auto all = first_targets(view);
  std::vector<nlohmann::json> runs;
  for (const TargetResult* target : all)
    runs.push_back(target->trace ? parse_json(target->trace->run) : nlohmann::json());
  const auto keys = fact_keys(runs);
  if (keys.size() >= max_facts) left_out.push_back("facts of the hosts beyond the first forty.");
  std::string html = section("environment", "Environment") + machine_rows(view);
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

std::string how_to_reproduce(const ComparisonView& view) {
  std::string html = section("reproduce", "How to reproduce") + "<ol>";
  html += fmt::format("<li>Model: <code>{}</code>, SHA-256 <code>{}</code></li>",
                      html_text(view.model_name, 200), html_text(view.model_sha256));
  html += fmt::format("<li>Input: {}</li>", html_text(view.input_text, 400));
  if (!view.build.empty())
    html += fmt::format("<li>Driftscope build <code>{}</code> (<code>driftscope --version</code>)</li>",
                        html_text(view.build));
  html += "<li>Command:<pre><code>" + html_text(view.command, max_reason) + "</code></pre></li>";
  if (view.command.find("file/") != std::string::npos)
    html += "<li>Targets <code>file/…</code> are recorded traces: attach those files as well.</li>";
  return html + "</ol></section>";
}

}  // namespace driftscope::report_sections
