#include "native/bench/open_subject.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "native/bench/browser_subject.hpp"
#include "native/bench/build_id.hpp"
#include "native/browser/browsers.hpp"
#include "native/browser/remote_device.hpp"
#include "native/browser/web_driver_server.hpp"
#include "native/browser/web_driver_target.hpp"
#include "native/host/host.hpp"
#include "native/platform/site.hpp"

namespace driftscope {
namespace {

/// A browser here, that of a device, or one that a WebDriver starts.
bool is_browser(std::string_view host) {
  return std::ranges::find(browser_hosts(), host) != browser_hosts().end() || is_web_driver(host) ||
         host.substr(0, host.find(':')) == remote_prefix.substr(0, remote_prefix.size() - 1);
}

/// Whether it has a program, which may be missing.
bool has_program(const Host& host) {
  const auto program = host.worker_program();
  return !program.ok() || !program->empty();
}

Error not_measured(const Target& target) {
  std::vector<std::string_view> names;
  for (const auto& host : host_table().all())
    if (is_browser(host->facts().name) || has_program(*host)) names.push_back(host->facts().name);
  return unsupported(fmt::format("targets of the host {} cannot be measured; hosts that can are {}",
                                 target.host, fmt::join(names, ", ")));
}

Error not_in_build(const SubjectSpec& spec, std::string_view what) {
  return unsupported(
      fmt::format("{}: {} cannot be measured there: it has {}", spec.build->name, spec.target.text(), what));
}

}  // namespace

bool can_be_measured(const Target& target) {
  if (is_browser(target.host)) return true;
  const auto host = find_host(target);
  return host.ok() && has_program(**host);
}

Result<std::unique_ptr<Subject>> open_subject(SubjectSpec spec, const RunnerOptions& runner,
                                              SiteServers& servers, const StopCheck& stop, BenchRow& row) {
  spec.timeout = runner.timeout;
  spec.stall_timeout = runner.stall_timeout;
  spec.web_driver = runner.web_driver;
  if (is_browser(spec.target.host)) {
    if (spec.build == nullptr) {
      DRIFTSCOPE_TRY(spec.site, find_site(runner.site));
    } else {
      spec.site = spec.build->site;
      if (spec.site.empty()) return not_in_build(spec, "no built page (index.html and engine/)");
    }
    const bool elsewhere = is_web_driver(spec.target.host);
    std::shared_ptr<Server>& server = servers[{spec.site, elsewhere}];
    if (!server && elsewhere) {
      DRIFTSCOPE_TRY(server, web_driver_server(spec.site, runner.web_driver));
    } else if (!server) {
      ServerOptions options;
      options.site = spec.site;
      DRIFTSCOPE_TRY(server, Server::start(std::move(options)));
    }
    return open_browser_subject(*server, spec, stop, row);
  }
  DRIFTSCOPE_TRY(const Host* const host, find_host(spec.target));
  DRIFTSCOPE_TRY(spec.program, host->worker_program());
  if (spec.program.empty()) return not_measured(spec.target);
  if (spec.build != nullptr) {
    if (spec.target.host != "pc") return not_in_build(spec, "only the programs of pc and the page");
    if (spec.build->program.empty()) return not_in_build(spec, "a page without a program");
    spec.program = {spec.build->program.string()};
  }
  row.build = build_id(spec.program.front());
  auto subject = open_local_subject(spec, stop, row);
  if (spec.build == nullptr || subject.ok()) return subject;
  return in_context(subject.error(), spec.build->name);
}

}  // namespace driftscope
