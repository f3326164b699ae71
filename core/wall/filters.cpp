#include "core/wall/filters.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/format.hpp"
#include "core/wall/parts.hpp"

namespace driftscope::wall {
namespace {

std::size_t place_of(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

std::string boxes(char kind, const std::string& title, const std::vector<std::string>& names) {
  if (names.size() < 2) return "";
  std::string html = fmt::format("<fieldset><legend>{}</legend>", title);
  for (std::size_t i = 0; i < names.size(); ++i)
    html += fmt::format("<label><input type=\"checkbox\" id=\"f-{}{}\" checked/>{}</label>", kind, i,
                        html_text(names[i].empty() ? "–" : names[i], most_name));
  return html + "</fieldset>";
}

}  // namespace

Names names_of(const Wall& wall) {
  Names names;
  const auto add = [](std::vector<std::string>& to, const std::string& name) {
    if (std::ranges::find(to, name) == to.end()) to.push_back(name);
  };
  for (const Column& column : wall.columns) {
    add(names.hosts, column.host);
    add(names.engines, column.engine);
  }
  std::ranges::sort(names.engines);
  return names;
}

std::string column_class(const Names& names, const std::string& host, const std::string& engine) {
  return fmt::format("h{} e{}", place_of(names.hosts, host), place_of(names.engines, engine));
}

std::string filter_rules(const Names& names) {
  std::string rules;
  const auto hide = [&](char kind, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      rules += fmt::format("main:has(#f-{0}{1}:not(:checked)) .{0}{1}{{display:none}}\n", kind, i);
  };
  hide('h', names.hosts.size());
  hide('e', names.engines.size());
  rules += "main:has(#f-bad:checked) tr.row:not(.has-bad){display:none}\n";
  for (const StateRow& row : state_rows)
    rules += fmt::format(
        "main:has(#f-{0}:checked) tr.row:not(.has-{0}){{display:none}}\n"
        "main:has(#f-{0}:checked) .item:not(.is-{0}){{opacity:.25}}\n",
        row.name);
  return rules;
}

std::string filters_html(const Names& names) {
  std::string html = "<div class=\"filters\">" + boxes('h', "hosts", names.hosts) +
                     boxes('e', "engines", names.engines) +
                     "<fieldset><legend>models with</legend><label><input type=\"radio\" name=\"verdict\" "
                     "id=\"f-any\" checked/>any verdict</label><label><input type=\"radio\" "
                     "name=\"verdict\" id=\"f-bad\"/>suspect or worse</label>";
  for (const StateRow& row : state_rows)
    if (row.severity >= 0)
      html += fmt::format("<label><input type=\"radio\" name=\"verdict\" id=\"f-{}\"/>{}</label>", row.name,
                          row.text);
  return html + "</fieldset></div>";
}

}  // namespace driftscope::wall
