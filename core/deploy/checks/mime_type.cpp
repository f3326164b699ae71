// Content types with which browsers refuse a module, or compile WebAssembly only after the whole download.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/deploy/deploy_check.hpp"

namespace driftscope::deploy_checks::mime_type {

namespace {

/// WHATWG, MIME Sniffing Standard, "JavaScript MIME type": those that people send.
constexpr std::array<std::string_view, 4> javascript = {"text/javascript", "application/javascript",
                                                        "application/x-javascript", "application/ecmascript"};

void add(std::vector<DeployFinding>& findings, DeployFinding finding) {
  const auto same = std::ranges::find(findings, finding.why, &DeployFinding::why);
  if (same != findings.end())
    ++same->count;
  else
    findings.push_back(std::move(finding));
}

std::string sent(const PageFile& file) { return file.media_type().empty() ? "missing" : file.media_type(); }

std::vector<DeployFinding> find(const DeployContext& context) {
  std::vector<DeployFinding> findings;
  for (const PageFile& file : context.page->files) {
    if (!file.ok()) continue;
    const std::string type = file.media_type();
    // A host of single-page applications answers with its page where a file is missing.
    const bool is_page = type == "text/html";
    if (file.role != PageRole::page && is_page) {
      if (!file.guessed)
        add(findings,
            {.severity = DeploySeverity::error,
             .where = file.url,
             .shows = "a page comes instead of the file",
             .why = fmt::format("Content-Type of a {} is text/html: the server answers with its page what "
                                "it does not have",
                                role_name(file.role)),
             .fix = "put the file there, and let the server answer 404 for missing ones"});
    } else if (file.role == PageRole::wasm && type != "application/wasm") {
      add(findings,
          {.severity = DeploySeverity::warning,
           .where = file.url,
           .shows = "WebAssembly.instantiateStreaming fails: the engine does not start, or compiles only "
                    "after the whole download",
           .why = fmt::format("Content-Type of .wasm is {}, expected application/wasm", sent(file)),
           .fix = "send Content-Type: application/wasm for .wasm"});
    } else if (file.role == PageRole::module && std::ranges::find(javascript, type) == javascript.end()) {
      add(findings,
          {.severity = DeploySeverity::error,
           .where = file.url,
           .shows = "the browser refuses the module",
           .why = fmt::format("Content-Type of a module is {}, expected text/javascript", sent(file)),
           .fix = "send Content-Type: text/javascript for .mjs and .js"});
    }
  }
  return findings;
}

}  // namespace

void add_to(DeployCheckTable& table) {
  table.add(
      {.name = "mime_type", .about = "content types of .wasm and modules", .of_model = false, .find = find});
}

}  // namespace driftscope::deploy_checks::mime_type
