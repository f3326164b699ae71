// The front page of a wall: what changed, and a table of models by host and engine.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/base/format.hpp"
#include "core/report/section.hpp"
#include "core/wall/filters.hpp"
#include "core/wall/parts.hpp"

namespace driftscope::wall {
namespace {

constexpr std::size_t most_changes = 60;
constexpr std::size_t most_models = 20;  // that one change names
constexpr std::size_t most_skipped = 50;
constexpr std::size_t cell_steps = 12;
constexpr std::size_t cell_place = 28;  // columns of a system or device in a cell
// Beyond it cells lose their histories, which their model's pages have too.
constexpr std::size_t most_with_strips = 8'000'000;

constexpr const char* front_rules = R"css(
main{max-width:none}
.wall td{vertical-align:top;text-align:left}.wall thead th{text-align:left}
.wall th[scope=row]{vertical-align:top;min-width:130px;max-width:260px;white-space:normal;
overflow-wrap:anywhere}
.wall th b,.wall th[scope=col] b{display:block;color:var(--ink)}
.item{display:block;text-decoration:none;padding:2px 0}
.item+.item{margin-top:8px;border-top:1px dotted var(--line);padding-top:6px}
.item:hover .state{text-decoration:underline}.item small{display:block;font-size:12px}
.filters{display:flex;flex-wrap:wrap;gap:6px 26px;margin:0 0 12px;padding:0;border:0}
.filters fieldset{border:1px solid var(--line);border-radius:6px;padding:2px 10px 6px;margin:0;
display:flex;flex-wrap:wrap;gap:2px 14px;max-width:100%}
.filters legend{color:var(--dim);font-size:12px;padding:0 4px}
.filters label{white-space:nowrap}.filters input{accent-color:var(--accent);margin:0 5px 0 0}
.changes{list-style:none;padding:0;margin:0}.changes li{border-left:3px solid var(--line);padding:2px 10px;
margin:6px 0}.changes li.down{border-color:var(--fault)}.changes li.up{border-color:var(--accent)}
@media print{.filters{display:none}}
)css";

/// Changes of several models that are one: the same day, target, place and verdicts.
std::string kind_of(const Wall& wall, const Change& change) {
  const Series& series = wall.models[change.model].series[change.series];
  const Run& after = series.runs[change.after];
  std::string kind = day_of(after);
  for (const std::string* part : {&series.target, &series.system, &series.device, &after.browser})
    kind += "\n" + *part;
  return kind + fmt::format("\n{}\n{}", static_cast<int>(series.runs[change.before].state),
                            static_cast<int>(after.state));
}

using Changes = std::vector<const Change*>;

std::vector<Changes> grouped_changes(const Wall& wall) {
  std::vector<Changes> groups;
  std::map<std::string, std::size_t> places;
  for (const Change& change : wall.changes) {
    const auto [found, fresh] = places.emplace(kind_of(wall, change), groups.size());
    if (fresh) groups.emplace_back();
    groups[found->second].push_back(&change);
  }
  return groups;
}

std::string models_html(const Wall& wall, const Changes& changes) {
  std::string html;
  for (std::size_t i = 0; i < std::min(most_models, changes.size()); ++i) {
    const Model& model = wall.models[changes[i]->model];
    const Series& series = model.series[changes[i]->series];
    html +=
        fmt::format("{}<a href=\"{}\">{}</a>", i > 0 ? ", " : "", link_to(model, series), model_html(model));
    const Run& after = series.runs[changes[i]->after];
    if (after.bad) html += " at <code>" + html_text(after.bad->node, most_name) + "</code>";
  }
  if (changes.size() > most_models) html += fmt::format(" and {} more", changes.size() - most_models);
  return html;
}

std::string causes_html(const Run& before, const Run& after) {
  std::string html;
  for (const Difference& one : differences(before, after))
    html +=
        fmt::format(" · {} {} → {}", one.what, html_text(one.from, most_name), html_text(one.to, most_name));
  return html;
}

std::string change_html(const Wall& wall, const Changes& changes, const Names& names) {
  const Change& change = *changes.front();
  const Series& series = wall.models[change.model].series[change.series];
  const Run& before = series.runs[change.before];
  const Run& after = series.runs[change.after];
  const std::string place = place_html(after.system_name, after.device, most_name);
  return fmt::format(
      "<li class=\"{0} {1}\"><span class=\"{2}\">{2}</span> <b>{3}</b>: {4} → {5} in {6}<br><span "
      "class=\"soft\">{7}{8}{9}</span></li>",
      change.worse ? "down" : "up", column_class(names, series.host, series.engine),
      change.worse ? "worse" : "better", html_text(series.target, most_name), state_html(before.state),
      state_html(after.state), models_html(wall, changes), html_text(day_of(after)),
      place.empty() ? "" : " · " + place, causes_html(before, after));
}

std::string changes_section(const Wall& wall, const Names& names) {
  std::string html = sections::open_section("changes", "What changed");
  if (wall.changes.empty())
    return html + "<p class=\"soft\">No verdict became worse or better between two runs.</p></section>";
  const std::vector<Changes> groups = grouped_changes(wall);
  html += "<ul class=\"changes\">";
  for (std::size_t i = 0; i < std::min(most_changes, groups.size()); ++i)
    html += change_html(wall, groups[i], names);
  html += "</ul>";
  if (groups.size() > most_changes)
    html += fmt::format("<p class=\"soft\">{} earlier ones are in the pages of the models.</p>",
                        groups.size() - most_changes);
  return html + "</section>";
}

std::string item_html(const Model& model, const Series& series, bool with_strip) {
  const Run& run = series.newest();
  std::string html = fmt::format("<a class=\"item is-{}\" href=\"{}\"><span class=\"state\">{}</span>",
                                 row_of(run.state).name, link_to(model, series), state_html(run.state));
  const auto line = [&](const std::string& text) {
    if (!text.empty()) html += "<small class=\"soft\">" + text + "</small>";
  };
  line(html_text(series.options, cell_place));
  line(place_html(series.system, series.device, cell_place));
  const std::string release = release_text(run);
  line(html_text(release.empty() ? day_of(run) : release + " · " + day_of(run), most_name));
  if (const auto since = since_when(series.runs); since && is_bad(run.state))
    line(html_text(since->text, most_name));
  return html + (with_strip ? strip_svg(series, cell_steps) : "") + "</a>";
}

std::string row_html(const Wall& wall, const Model& model, const Names& names, bool with_strips) {
  std::string classes = "row";
  std::vector<std::string> cells(wall.columns.size());
  bool bad = false;
  for (const StateRow& row : state_rows) {
    const auto has = [&](const Series& series) { return series.newest().state == row.state; };
    if (std::ranges::any_of(model.series, has)) {
      classes += fmt::format(" has-{}", row.name);
      bad = bad || is_bad(row.state);
    }
  }
  for (const Series& series : model.series) cells[series.column] += item_html(model, series, with_strips);
  std::string html = fmt::format("<tr class=\"{}{}\"><th scope=\"row\"><a href=\"{}\"><b>{}</b></a></th>",
                                 classes, bad ? " has-bad" : "", html_escape(model.page), model_html(model));
  for (std::size_t c = 0; c < cells.size(); ++c)
    html += fmt::format("<td class=\"{}\">{}</td>",
                        column_class(names, wall.columns[c].host, wall.columns[c].engine),
                        cells[c].empty() ? "<span class=\"soft\">–</span>" : cells[c]);
  return html + "</tr>";
}

std::string table_section(const Wall& wall, const Names& names, std::size_t used) {
  std::string html = sections::open_section("models", "Models") + filters_html(names) +
                     sections::open_table("Models by host and engine", "wall") +
                     "<thead><tr><th scope=\"col\">model</th>";
  for (const Column& column : wall.columns)
    html += fmt::format("<th scope=\"col\" class=\"{}\"><b>{}</b>{}</th>",
                        column_class(names, column.host, column.engine), html_text(column.host, most_name),
                        html_text(column.engine, most_name));
  html += "</tr></thead><tbody>";
  for (const Model& model : wall.models)
    html += row_html(wall, model, names, used + html.size() < most_with_strips);
  return html +
         "</tbody></table></div><p class=\"soft\">The last verdict of each target, by release; below it one "
         "symbol for each release and verdict, the oldest first, and how long a run took.</p></section>";
}

std::string skipped_section(const Wall& wall) {
  if (wall.skipped.empty()) return "";
  std::string html = sections::open_section("skipped", "Not shown") + "<ul>";
  for (std::size_t i = 0; i < std::min(most_skipped, wall.skipped.size()); ++i)
    html += fmt::format("<li><code>{}</code>: {}</li>", html_text(wall.skipped[i].name, 200),
                        html_text(wall.skipped[i].why, most_reason));
  if (wall.skipped.size() > most_skipped)
    html += fmt::format("<li>{} more</li>", wall.skipped.size() - most_skipped);
  return html + "</ul></section>";
}

std::string front_headline(const Wall& wall) {
  std::size_t bad = 0;
  std::size_t all = 0;
  for (const Model& model : wall.models) {
    all += model.series.size();
    bad += static_cast<std::size_t>(std::ranges::count_if(
        model.series, [](const Series& series) { return is_bad(series.newest().state); }));
  }
  if (all == 0) return "No comparisons yet";
  if (bad == 0) return fmt::format("All {} targets agree within rounding or are unjudged", all);
  return fmt::format("{} of {} targets suspect, faulty or not running", bad, all);
}

}  // namespace

Page front_page(const Wall& wall) {
  const Names names = names_of(wall);
  std::string main = fmt::format(
      "<header><h1>Models, browsers and releases</h1><p class=\"headline\">{}</p>"
      "<p class=\"soft\">{} models, {} runs, {} comparisons</p></header>",
      front_headline(wall), wall.models.size(), wall.runs, wall.files);
  if (wall.models.empty())
    return make_page(
        "Driftscope: the wall", front_rules,
        main + "<p>Files of <code>driftscope compare --json</code> appear here.</p>" + skipped_section(wall));
  main += changes_section(wall, names);
  main += table_section(wall, names, main.size());
  main += skipped_section(wall);
  return make_page("Driftscope: the wall", front_rules + filter_rules(names), main);
}

}  // namespace driftscope::wall
