// A page that does not answer, or not with a page.
#include <fmt/format.h>

#include "core/deploy/deploy_check.hpp"

namespace driftscope::deploy_checks::page_answer {

namespace {

std::vector<DeployFinding> find(const DeployContext& context) {
  const PageFile& page = context.page->page();
  if (!page.ok())
    return {{.severity = DeploySeverity::error,
             .where = page.url,
             .shows = "the page does not open",
             .why = page.status == 0 ? page.failure
                                     : fmt::format("the server answers with status {}", page.status),
             .fix = "correct the URL, or the server; nothing else was checked"}};
  if (page.media_type() != "text/html" && page.media_type() != "application/xhtml+xml")
    return {{.severity = DeploySeverity::error,
             .where = page.url,
             .shows = "the browser shows or saves a file instead of opening a page",
             .why = fmt::format("Content-Type is {}, expected text/html",
                                page.media_type().empty() ? "missing" : page.media_type()),
             .fix = "send Content-Type: text/html; charset=utf-8"}};
  return {};
}

}  // namespace

void add_to(DeployCheckTable& table) {
  table.add({.name = "page_answer", .about = "a page that does not open", .of_model = false, .find = find});
}

}  // namespace driftscope::deploy_checks::page_answer
