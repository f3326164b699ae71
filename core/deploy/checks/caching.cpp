// Large files that every visit downloads again (RFC 9111).
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/deploy/deploy_check.hpp"

namespace driftscope::deploy_checks::caching {

namespace {

bool has_directive(std::string_view header, std::string_view name) {
  std::string text(header);
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == ',';
    const std::size_t end = at + name.size();
    if (begins && (end == text.size() || text[end] == ',' || text[end] == '=' || text[end] == ' '))
      return true;
  }
  return false;
}

/// Why a browser downloads it again; empty: it need not.
std::string_view reason(const PageFile& file) {
  const std::string_view control = file.header("cache-control");
  if (has_directive(control, "no-store")) return "Cache-Control has no-store";
  // With a validator the browser asks, and downloads only what has changed.
  if (!file.header("etag").empty() || !file.header("last-modified").empty()) return "";
  if (has_directive(control, "no-cache"))
    return "Cache-Control has no-cache, and there is no ETag to ask with";
  if (has_directive(control, "max-age") || has_directive(control, "immutable") ||
      !file.header("expires").empty())
    return "";
  return "there is no Cache-Control, ETag, Last-Modified or Expires";
}

std::vector<DeployFinding> find(const DeployContext& context) {
  std::vector<DeployFinding> findings;
  for (const PageFile& file : context.page->files) {
    const bool large =
        file.role == PageRole::wasm || file.role == PageRole::model || file.role == PageRole::data;
    if (!large || !file.ok() || file.media_type() == "text/html") continue;
    const std::string_view why = reason(file);
    if (why.empty()) continue;
    const auto same = std::ranges::find(findings, why, &DeployFinding::why);
    if (same != findings.end()) {
      ++same->count;
      continue;
    }
    findings.push_back({.severity = DeploySeverity::warning,
                        .where = file.url,
                        .shows = "every visit downloads it again",
                        .why = std::string(why),
                        .fix = "put a hash into the name and send Cache-Control: public, max-age=31536000, "
                               "immutable; or send an ETag"});
  }
  return findings;
}

}  // namespace

void add_to(DeployCheckTable& table) {
  table.add({.name = "caching",
             .about = "files that every visit downloads again",
             .of_model = false,
             .find = find});
}

}  // namespace driftscope::deploy_checks::caching
