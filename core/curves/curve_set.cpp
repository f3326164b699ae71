#include "core/curves/curve_set.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "core/base/text.hpp"

namespace driftscope {
namespace {

using CurveName = std::tuple<std::string, std::string, std::int64_t>;

CurveName name_of(const Curve& curve) { return {curve.run, curve.metric, curve.repetition}; }

void tell_apart(std::vector<NamedCurveFile>& files) {
  std::set<CurveName> taken;
  for (auto& [path, file] : files) {
    std::set<std::string> clashing;
    for (const Curve& curve : file.curves)
      if (taken.contains(name_of(curve))) clashing.insert(curve.run);
    for (Curve& curve : file.curves)
      if (clashing.contains(curve.run)) curve.run = fmt::format("{} ({})", curve.run, path);
    for (const Curve& curve : file.curves) taken.insert(name_of(curve));
  }
}

Status keep_metrics(const std::vector<std::string>& metrics, std::vector<Curve>& curves) {
  if (metrics.empty()) return {};
  std::vector<std::string> known;
  for (const Curve& curve : curves)
    if (std::ranges::find(known, curve.metric) == known.end()) known.push_back(curve.metric);
  for (const std::string& metric : metrics)
    if (std::ranges::find(known, metric) == known.end())
      return bad_input(
          fmt::format("--metric {}: the files have {}", in_quotes(metric), fmt::join(known, ", ")));
  std::erase_if(
      curves, [&](const Curve& curve) { return std::ranges::find(metrics, curve.metric) == metrics.end(); });
  return {};
}

std::string_view last_part(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

Result<std::shared_ptr<const CurveSet>> make_curve_set(std::vector<NamedCurveFile> files,
                                                       const CurveSetOptions& options) {
  tell_apart(files);
  auto set = std::make_shared<CurveSet>();
  set->apart = options.apart;
  for (auto& [path, file] : files) {
    for (const std::string& note : file.notes) set->document.notes.push_back(path + ": " + note);
    for (Curve& curve : file.curves) set->curves.push_back(std::move(curve));
    if (file.training) set->trainings.push_back(std::move(file.training));
  }
  DRIFTSCOPE_CHECK(keep_metrics(options.metrics, set->curves));
  set->groups = groups_of(set->curves);
  set->charts = curve_charts(set->groups);
  for (const CurveGroup& group : set->groups) set->document.curves.push_back(summary_of(group));
  set->document.comparisons = compare_curves(set->groups, {.threshold = options.apart});
  return std::shared_ptr<const CurveSet>(std::move(set));
}

bool is_event_file(std::string_view path) {
  return last_part(path).find("tfevents") != std::string_view::npos;
}

std::string curve_run_name(std::string_view path, std::string_view given) {
  const std::string_view name = last_part(path);
  if (!is_event_file(path)) {
    const std::size_t dot = name.rfind('.');
    return std::string(dot == 0 ? name : name.substr(0, dot));
  }
  if (name.size() == path.size()) return std::string(name);
  const std::string_view folder = path.substr(0, path.size() - name.size() - 1);
  if (given.ends_with('/')) given.remove_suffix(1);
  if (folder.size() > given.size() + 1 && folder.starts_with(given) && folder[given.size()] == '/')
    return std::string(folder.substr(given.size() + 1));
  return std::string(last_part(folder));
}

}  // namespace driftscope
