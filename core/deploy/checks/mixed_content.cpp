// Files on http that a page on https loads: browsers block them (W3C, Mixed Content).
#include <algorithm>

#include "core/deploy/deploy_check.hpp"
#include "core/deploy/page_links.hpp"
#include "core/deploy/url.hpp"

namespace driftscope::deploy_checks::mixed_content {

namespace {

std::vector<DeployFinding> find(const DeployContext& context) {
  const DeployPage& page = *context.page;
  if (!page.page().url.starts_with("https:")) return {};
  std::vector<std::string> urls = insecure_loads(page.page().text);
  urls.insert(urls.end(), page.elsewhere.begin(), page.elsewhere.end());
  std::erase_if(urls, [](const std::string& text) {
    const auto url = parse_url(text);
    return !url.ok() || url->secure();
  });
  std::ranges::sort(urls);
  urls.erase(std::unique(urls.begin(), urls.end()), urls.end());
  if (urls.empty()) return {};
  return {{.severity = DeploySeverity::error,
           .where = urls.front(),
           .count = static_cast<std::int64_t>(urls.size()),
           .shows = "the browser blocks the file (Mixed Content)",
           .why = "the page is on https, and loads it on http",
           .fix = "write https, or a path of the page's own host"}};
}

}  // namespace

void add_to(DeployCheckTable& table) {
  table.add({.name = "mixed_content",
             .about = "files on http that a page on https loads",
             .of_model = false,
             .find = find});
}

}  // namespace driftscope::deploy_checks::mixed_content
