// A page without https: no secure context, in which browsers keep back what engines need (W3C, Secure
// Contexts).
#include "core/deploy/deploy_check.hpp"
#include "core/deploy/url.hpp"

namespace driftscope::deploy_checks::secure_context {

namespace {

std::vector<DeployFinding> find(const DeployContext& context) {
  const auto url = parse_url(context.page->page().url);
  if (!url.ok() || url->secure()) return {};
  return {{.severity = DeploySeverity::error,
           .where = context.page->page().url,
           .shows = "no WebGPU, no WebNN, no threads and no service worker: navigator.gpu is undefined",
           .why = "the page is on http and not on this machine: browsers count it as no secure context",
           .fix = "serve it on https, and redirect http there"}};
}

}  // namespace

void add_to(DeployCheckTable& table) {
  table.add({.name = "secure_context", .about = "a page without https", .of_model = false, .find = find});
}

}  // namespace driftscope::deploy_checks::secure_context
