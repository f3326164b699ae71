#include "native/gui/environment.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/runtime/engine.hpp"
#include "native/bench/history.hpp"
#include "native/host/host.hpp"
#include "native/platform/site.hpp"

namespace driftscope {
namespace {

constexpr double history_confidence = 0.99;  // as `bench --history` judges

bool is_default(const Engine& engine) { return &engine == &default_engine(); }

/// `page`: where the built page is, which all hosts but the PC need.
void add_host(const Host& host, const Result<std::filesystem::path>& page,
              std::vector<gui::TargetChoice>& targets) {
  const std::string& name = host.facts().name;
  const bool is_pc = name == "pc";
  const Result<std::string> version = host.version();
  const Error* const missing = !version.ok()          ? &version.error()
                               : !is_pc && !page.ok() ? &page.error()
                                                      : nullptr;
  if (missing != nullptr) {  // said once
    if (!host.facts().optional)
      targets.push_back({name + "/" + default_engine().name(), false, missing->message, true});
    return;
  }
  std::string detail = is_pc ? "" : *version;
  for (const auto& engine : engines()) {
    const EngineInfo& info = engine->info();
    // The reference computes the same elsewhere as here.
    if (!host.can_run(info) || (!is_pc && info.kind == EngineKind::reference)) continue;
    Availability here = host.runs(*engine);
    if (here.ok && here.reason.empty()) here.reason = std::exchange(detail, {});
    for (const std::string& one : host.names())
      targets.push_back(
          {one + "/" + info.name, here.ok, here.reason, is_default(*engine) && !host.facts().optional});
  }
}

}  // namespace

std::filesystem::path default_history() { return History::default_place(); }

std::vector<gui::TargetChoice> targets_here(const std::filesystem::path& site) {
  std::vector<gui::TargetChoice> targets;
  const auto page = find_site(site);
  for (const auto& host : host_table().all())
    if (host->facts().runs) add_host(*host, page, targets);
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
