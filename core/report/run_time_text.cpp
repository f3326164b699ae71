#include "core/report/run_time_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/format.hpp"

namespace driftscope {
namespace {

std::string ns_text(double ns) {
  return format_ns(static_cast<std::int64_t>(std::llround(std::min(ns, 9e18))));
}

}  // namespace

std::string run_time_text(const RunTime& time) {
  std::string text = "unknown";
  switch (time.kind) {
    case TimeKind::unwatched:
      text = fmt::format("{} (median of {} unwatched runs, first {})", ns_text(time.ns), time.runs,
                         ns_text(time.first_ns));
      break;
    case TimeKind::watched: text = ns_text(time.ns) + " (watched)"; break;
    case TimeKind::layers: text = ns_text(time.ns) + " (sum of the layers)"; break;
    case TimeKind::unknown: break;
  }
  return time.error.empty() ? text : fmt::format("{}; unwatched runs failed: {}", text, time.error);
}

std::string short_run_time_text(const RunTime& time) {
  if (time.kind == TimeKind::unknown) return "–";
  if (time.kind == TimeKind::unwatched) return ns_text(time.ns);
  return fmt::format("{} {}", ns_text(time.ns), time.kind == TimeKind::watched ? "watched" : "of layers");
}

std::string layer_times_text(const RunTime& time) {
  return time.layers == "unknown" ? "layers: not reported by the runtime" : "layers: " + time.layers;
}

}  // namespace driftscope
