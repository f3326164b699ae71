// Model, input and command.
#include <fmt/format.h>

#include "core/base/format.hpp"
#include "core/report/section.hpp"

namespace driftscope::sections::how_to_reproduce {
namespace {

std::string write(const SectionContext& context) {
  const ComparisonView& view = context.view;
  std::string html = open_section("reproduce", "How to reproduce") + "<ol>";
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

}  // namespace

void add_to(SectionTable& table) { table.add({90, write}); }

}  // namespace driftscope::sections::how_to_reproduce
