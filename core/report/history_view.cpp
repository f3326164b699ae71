#include "core/report/history_view.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/format.hpp"
#include "core/report/text_table.hpp"

namespace driftscope {
namespace {

std::string change_text(const BuildChange& change) {
  switch (change.change) {
    case Change::first: return "";
    case Change::unknown: return "? not judged";
    case Change::same: return "= within the noise";
    case Change::slower: return "✗ slower";
    case Change::faster: return "✓ faster";
  }
  return "";
}

std::string factor_text(const BuildChange& change) {
  if (change.change == Change::first) return "";
  const Estimate& factor = change.times_as_long;
  const auto percent = [](double x) { return fmt::format("{:+.1f} %", 100.0 * (x - 1.0)); };
  if (!factor.interval) return percent(factor.value);
  return fmt::format("{} [{}, {}]", percent(factor.value), percent(factor.interval->low),
                     percent(factor.interval->high));
}

}  // namespace

std::string history_table(const SeriesView& series, double confidence, int* slower) {
  const auto changes = classify_changes(series.builds, confidence);
  TextTable table;
  table.column("build", Align::left);
  table.column("first measured", Align::left);
  table.column("benches", Align::right);
  table.column("median", Align::right);
  table.column("against the build before", Align::left);
  table.column("", Align::left);
  for (std::size_t i = 0; i < series.builds.size(); ++i) {
    const BuildTimes& build = series.builds[i];
    if (slower != nullptr && changes[i].change == Change::slower) ++*slower;
    table.row({build.build, series.first_seen[i], std::to_string(build.medians_ns.size()),
               format_ns(std::llround(median(build.medians_ns))), factor_text(changes[i]),
               change_text(changes[i])});
  }
  std::string text = fmt::format("{}\n{}\n{}", series.title, series.where, table.text());
  const Noise noise = noise_between_runs(series.builds);
  if (noise.known())
    text += fmt::format(
        "noise between benches of one build: ± {:.1f} % ({} benches beyond the first of "
        "each build); judged at {:.3g} %\n",
        100.0 * noise.relative, noise.degrees, 100.0 * confidence);
  else if (series.builds.size() > 1)
    text += "not judged: at least three benches of one build are needed to know the noise\n";
  return text;
}

}  // namespace driftscope
