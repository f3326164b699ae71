#include "native/gui/environment.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/runtime/engine.hpp"
#include "native/bench/history.hpp"
#include "native/browser/browsers.hpp"
#include "native/http/server.hpp"

namespace driftscope {
namespace {

constexpr double history_confidence = 0.99;  // as `bench --history` judges

}  // namespace

std::filesystem::path default_history() { return History::default_place(); }

std::vector<gui::TargetChoice> targets_here(const std::filesystem::path& site) {
  std::vector<gui::TargetChoice> targets;
  for (const auto& engine : engines()) {
    const Availability availability = engine->available();
    targets.push_back({"pc/" + engine->name(), availability.ok, availability.reason});
  }
  const auto page = find_site(site);
  for (const std::string& host : browser_hosts()) {
    const auto found = probe_host(host);
    const bool ok = found.ok() && page.ok();
    const std::string detail = !found.ok()  ? found.error().message
                               : !page.ok() ? page.error().message
                                            : found->version;
    for (const char* engine : {"strict", "fast", "ort"})
      targets.push_back({host + "/" + engine, ok, engine == std::string("strict") || !ok ? detail : ""});
    if (!ok) targets.erase(targets.end() - 2, targets.end());  // one line says why
  }
  // What compares best comes first: strict is the same everywhere.
  const auto strict = std::find_if(targets.begin(), targets.end(),
                                   [](const gui::TargetChoice& t) { return t.target == "pc/strict"; });
  if (strict != targets.end()) std::rotate(targets.begin(), strict, strict + 1);
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
