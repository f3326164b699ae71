#include "native/gui/environment.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/runtime/engine.hpp"
#include "native/bench/history.hpp"
#include "native/browser/browser_features.hpp"
#include "native/browser/browsers.hpp"
#include "native/platform/site.hpp"

namespace driftscope {
namespace {

constexpr double history_confidence = 0.99;  // as `bench --history` judges

bool is_default(const Engine& engine) { return &engine == &default_engine(); }

void add_pc(std::vector<gui::TargetChoice>& targets) {
  for (const auto& engine : engines()) {
    if (!runs_on(engine->info(), "pc")) continue;
    const Availability availability = engine->available();
    targets.push_back({"pc/" + engine->name(), availability.ok, availability.reason, is_default(*engine)});
  }
}

/// `here`: its version, or why it is unavailable, which is reported once.
void add_browser(const std::string& host, const Result<std::string>& here,
                 std::vector<gui::TargetChoice>& targets) {
  if (!here.ok()) {
    targets.push_back({host + "/" + default_engine().name(), false, here.error().message, true});
    return;
  }
  std::string detail = *here;
  for (const auto& engine : engines()) {
    const EngineInfo& info = engine->info();
    // The reference computes the same there as here.
    if (!runs_on(info, host) || info.kind == EngineKind::reference) continue;
    if (const BrowserFeature* feature = find_browser_feature(info.browser_feature)) {
      if (feature->host != host) continue;
      const auto with = probe_host(host, feature->name);
      targets.push_back(
          {host + "/" + info.name, with.ok(), with.ok() ? with->version : with.error().message, false});
      continue;
    }
    targets.push_back({host + "/" + info.name, true, std::exchange(detail, {}), is_default(*engine)});
  }
}

Result<std::string> version_of(const std::string& host, const Result<std::filesystem::path>& page) {
  DRIFTSCOPE_TRY(const HostInfo found, probe_host(host));
  if (!page.ok()) return page.error();
  return found.version;
}

}  // namespace

std::filesystem::path default_history() { return History::default_place(); }

std::vector<gui::TargetChoice> targets_here(const std::filesystem::path& site) {
  std::vector<gui::TargetChoice> targets;
  add_pc(targets);
  const auto page = find_site(site);
  for (const std::string& host : browser_hosts()) add_browser(host, version_of(host, page), targets);
  return targets;
}

std::vector<gui::RunTrend> read_history(const std::filesystem::path& file) {
  std::vector<gui::RunTrend> trends;
  std::error_code error;
  if (file.empty() || !std::filesystem::exists(file, error)) return trends;
  auto history = History::open(file);
  if (!history.ok()) return trends;
  const auto all = history->read({});
  if (!all.ok()) return trends;
  for (const HistorySeries& series : *all) {
    std::string title = fmt::format("{}  {}  batch {}", series.model, series.target, series.batch);
    if (series.capture != "none") title += "  trace " + series.capture;
    trends.push_back(gui::make_trend(
        std::move(title),
        series.machine + (series.browser_version.empty() ? "" : ", " + series.browser_version), series.builds,
        series.first_seen, history_confidence));
  }
  return trends;
}

}  // namespace driftscope
