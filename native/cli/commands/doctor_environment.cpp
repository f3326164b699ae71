#include "native/cli/commands/doctor_environment.hpp"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "core/base/json.hpp"
#include "core/platform/platform.hpp"
#include "core/report/text_table.hpp"
#include "core/runtime/engine.hpp"
#include "generated/documents/doctor.hpp"
#include "native/browser/browser_features.hpp"
#include "native/browser/browsers.hpp"
#include "native/browser/chromium_sandbox.hpp"
#include "native/cli/gui_program.hpp"
#include "native/host/gpu_devices.hpp"
#include "native/host/host.hpp"
#include "native/os/files.hpp"
#include "native/platform/site.hpp"

namespace driftscope {
namespace {

/// One capability that this machine may have.
struct Capability {
  std::string what;
  bool ok = false;
  std::string detail;  ///< version, or why it is missing and how to get it
  bool needed = true;  ///< for runs; other findings are reported but do not count as missing
};

/// Browsers with what only some engines need: not needed for the others' runs.
void probe_features(std::vector<Capability>& findings) {
  std::set<std::string> names;
  for (const auto& engine : engines()) names.insert(engine->info().browser_feature);
  for (const std::string& name : names) {
    const BrowserFeature* feature = find_browser_feature(name);
    if (!feature) continue;
    const auto found = probe_host(feature->host, name);
    findings.push_back(
        {feature->host + " with " + feature->title, found.ok(),
         found.ok() ? fmt::format("{} ({})", found->version, found->program.string()) : found.error().message,
         false});
  }
}

void add_pc(std::vector<Capability>& findings) {
  findings.push_back({"pc", true,
                      fmt::format("{}, {} processor{}", platform_name(), usable_processors(),
                                  usable_processors() == 1 ? "" : "s")});
  for (const auto& engine : engines()) {
    if (!runs_on(engine->info(), "pc")) continue;
    const Availability availability = engine->available();
    findings.push_back({"pc/" + engine->name(), availability.ok,
                        availability.ok ? engine->info().summary : availability.reason});
  }
}

std::vector<Capability> probe_environment() {
  std::vector<Capability> findings;
  if (default_host() == "pc") add_pc(findings);
  const auto site = find_site();
  findings.push_back({"page", site.ok(), site.ok() ? site->string() : site.error().message});
  for (const auto& host : host_table().all()) {
    const HostFacts& facts = host->facts();
    if (!facts.runs || (facts.name == "pc" && default_host() == "pc")) continue;  // which has its lines
    const auto found = host->version();
    findings.push_back(
        {facts.name, found.ok(), found.ok() ? *found : found.error().message, !facts.optional});
  }
  findings.push_back({"chrome's sandbox", why_no_sandbox().empty(),
                      why_no_sandbox().empty() ? "user namespaces" : why_no_sandbox(), false});
  probe_features(findings);
  const Status gui = gui_can_open();
  findings.push_back({"gui", gui.ok(), gui.ok() ? "a window" : gui.error().message, false});
  return findings;
}

void add_gpus(const EnvironmentRequest& request, std::vector<Capability>& findings) {
  ProgressLine line(request.quiet);
  const auto progress = [&line](std::string_view step, std::int64_t done, std::int64_t total) {
    line.update(step, done, total);
  };
  for (const GpuDevice& gpu : gpu_devices(request.runner, progress))
    findings.push_back({gpu.target + "'s device", gpu.device.ok(),
                        gpu.device.ok() ? *gpu.device : gpu.device.error().message, false});
}

}  // namespace

Exit show_environment(const EnvironmentRequest& request) {
  auto findings = probe_environment();
  if (request.gpus) add_gpus(request, findings);
  bool all = true;
  TextTable table;
  table.column("here", Align::left);
  table.column("what", Align::left);
  table.column("detail", Align::left);
  documents::Doctor document;
  for (const Capability& finding : findings) {
    all = all && (finding.ok || !finding.needed);
    table.row({finding.ok ? "yes" : "no", finding.what, finding.detail});
    document.findings.push_back({finding.what, finding.ok, finding.detail});
  }
  if (request.json != "-") print_out("{}", table.text());
  if (!request.json.empty()) {
    const Status status = write_json(request.json, json_text(encode(document), 1) + "\n");
    if (!status.ok()) return print_error(status.error()), exit_of(status.error());
  }
  return all ? Exit::ok : Exit::missing;
}

}  // namespace driftscope
