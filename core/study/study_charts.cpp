#include "core/study/study_charts.hpp"

#include <fmt/format.h>

namespace driftscope {
namespace {

struct ChartOf {
  MeasureKind kind;
  const char* title;
};
constexpr ChartOf charts[] = {
    {MeasureKind::accuracy, "Accuracy"},
    {MeasureKind::time, "Seconds for 10,000 inferences"},
    {MeasureKind::memory, "Peak memory"},
};

double scale_of(MeasureKind kind) {
  return kind == MeasureKind::accuracy ? 100.0 : kind == MeasureKind::memory ? 1e-6 : 1.0;
}

/// One bar per target and variant of a model.
std::vector<Bar> bars_of(const StudyView& view, const documents::StudyModel& model,
                         const documents::StudyData& data, MeasureKind kind) {
  std::vector<Bar> bars;
  for (const StudySubject& subject : view.subjects()) {
    if (subject.model != model.name) continue;
    for (std::size_t t = 0; t < view.targets().size(); ++t) {
      const Figure figure = view.figure({kind, data.name, subject.variant}, model.name, t);
      if (!figure.value) continue;
      const double scale = scale_of(kind);
      Bar bar{.label = subject.variant == StudySubject::base_variant
                           ? view.targets()[t]
                           : fmt::format("{} {}", view.targets()[t], subject.variant),
              .text = figure.text,
              .value = scale * *figure.value,
              .series = t};
      if (figure.interval)
        bar.interval = Interval{scale * figure.interval->low, scale * figure.interval->high};
      bars.push_back(std::move(bar));
    }
  }
  return bars;
}

}  // namespace

std::vector<StudyChart> study_charts(const StudyView& view) {
  std::vector<StudyChart> all;
  for (const ChartOf& of : charts)
    for (const documents::StudyModel& model : view.study().models)
      for (const documents::StudyData& data : model.data) {
        if (of.kind != MeasureKind::accuracy && &data != &model.data.front()) continue;
        std::vector<Bar> bars = bars_of(view, model, data, of.kind);
        if (bars.empty()) continue;
        all.push_back({of.title,
                       fmt::format("{}, {}{}", of.title, model.name,
                                   of.kind == MeasureKind::accuracy ? " on " + data.name : ""),
                       std::move(bars), of.kind == MeasureKind::time});
      }
  return all;
}

}  // namespace driftscope
