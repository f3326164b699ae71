// Cross-origin isolation, without which WebAssembly has no threads: SharedArrayBuffer is kept back (HTML
// Standard, "cross-origin isolation").
#include <fmt/format.h>

#include <algorithm>

#include "core/deploy/deploy_check.hpp"
#include "core/deploy/page_links.hpp"

namespace driftscope::deploy_checks::isolation {

namespace {

/// The token of a header without its parameters ("; report-to=…").
std::string_view token(std::string_view header) {
  header = header.substr(0, header.find(';'));
  while (!header.empty() && (header.back() == ' ' || header.back() == '\t')) header.remove_suffix(1);
  return header;
}

std::string found(std::string_view header) {
  return header.empty() ? "missing" : fmt::format("'{}'", header);
}

std::vector<DeployFinding> find(const DeployContext& context) {
  const PageFile& page = context.page->page();
  if (!page.ok()) return {};
  const std::string_view opener = token(page.header("cross-origin-opener-policy"));
  const std::string_view embedder = token(page.header("cross-origin-embedder-policy"));
  const bool isolated =
      opener == "same-origin" && (embedder == "require-corp" || embedder == "credentialless");
  std::vector<DeployFinding> findings;
  if (!isolated) {
    const bool worker = std::ranges::any_of(
        context.page->files, [](const PageFile& file) { return registers_service_worker(file.text); });
    DeployFinding finding{
        .severity = worker ? DeploySeverity::note : DeploySeverity::warning,
        .where = page.url,
        .shows = "no threads: engines on the CPU use one processor (crossOriginIsolated is false)",
        .why = fmt::format(
            "Cross-Origin-Opener-Policy is {}, expected same-origin; Cross-Origin-Embedder-Policy is "
            "{}, expected require-corp or credentialless",
            found(opener), found(embedder)),
        .fix =
            "send both headers with the page; where the host cannot, a service worker can add them "
            "(docs/static_hosting.md)"};
    if (worker)
      finding.why += "; the page registers a service worker, which may add them from the second load on";
    findings.push_back(std::move(finding));
  } else if (embedder == "require-corp" && !context.page->elsewhere.empty()) {
    findings.push_back({.severity = DeploySeverity::note,
                        .where = context.page->elsewhere.front(),
                        .count = static_cast<std::int64_t>(context.page->elsewhere.size()),
                        .shows = "files of other origins are blocked unless those allow it",
                        .why = "with Cross-Origin-Embedder-Policy: require-corp such a response needs "
                               "Cross-Origin-Resource-Policy: cross-origin, or CORS (they were not fetched)",
                        .fix = "serve them from the page's own origin, or send credentialless instead"});
  }
  return findings;
}

}  // namespace

void add_to(DeployCheckTable& table) {
  table.add(
      {.name = "isolation", .about = "COOP and COEP, which threads need", .of_model = false, .find = find});
}

}  // namespace driftscope::deploy_checks::isolation
