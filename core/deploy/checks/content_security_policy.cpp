// A policy that keeps WebAssembly from being compiled (W3C, Content Security Policy 3, "wasm-unsafe-eval").
#include <algorithm>
#include <optional>

#include "core/deploy/deploy_check.hpp"

namespace driftscope::deploy_checks::content_security_policy {

namespace {

/// The sources of a directive of one policy: what follows its name up to ";".
std::optional<std::string_view> sources_of(std::string_view policy, std::string_view directive) {
  while (!policy.empty()) {
    std::string_view one = policy.substr(0, policy.find(';'));
    policy.remove_prefix(std::min(one.size() + 1, policy.size()));
    while (one.starts_with(' ')) one.remove_prefix(1);
    if (one.starts_with(directive) && (one.size() == directive.size() || one[directive.size()] == ' '))
      return one.substr(directive.size());
  }
  return std::nullopt;
}

std::vector<DeployFinding> find(const DeployContext& context) {
  const PageFile& page = context.page->page();
  const std::string_view policy = page.header("content-security-policy");
  auto scripts = sources_of(policy, "script-src");
  if (!scripts) scripts = sources_of(policy, "default-src");
  if (!scripts || scripts->find("unsafe-eval'") != std::string_view::npos) return {};
  return {
      {.severity = DeploySeverity::error,
       .where = page.url,
       .shows = "engines in WebAssembly do not start (CompileError: violates the Content Security Policy)",
       .why = "the page's Content-Security-Policy limits scripts and does not have 'wasm-unsafe-eval'",
       .fix = "add 'wasm-unsafe-eval' to script-src; it allows WebAssembly alone, not eval()"}};
}

}  // namespace

void add_to(DeployCheckTable& table) {
  table.add({.name = "content_security_policy",
             .about = "a policy that forbids WebAssembly",
             .of_model = false,
             .find = find});
}

}  // namespace driftscope::deploy_checks::content_security_policy
