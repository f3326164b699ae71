// driftscope-training-1, which `python -m driftscope.training` writes: loss, test loss and accuracy of each
// framework, and how far each two are apart.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/json.hpp"
#include "core/base/json_lists.hpp"
#include "core/curves/curve_format.hpp"
#include "generated/documents/training.hpp"

namespace driftscope::curve_formats::training {
namespace {

constexpr std::string_view current = "driftscope-training-1";

bool fits(const CurveSource& source) {
  return source.text().substr(0, 2000).find("\"driftscope-training-") != std::string_view::npos;
}

void add_run(const std::string& model, const documents::TrainingRun& run, std::vector<Curve>& curves) {
  const auto add = [&](const char* metric, double documents::TrainingPoint::* member) {
    Curve curve{fmt::format("{}/{}", model, run.framework), metric, run.repetition, {}, {}};
    for (const documents::TrainingPoint& point : run.epochs) {
      if (point.epoch == 0 && std::isnan(point.*member)) continue;  // no batch was seen yet
      curve.steps.push_back(static_cast<double>(point.epoch));
      curve.values.push_back(point.*member);
    }
    if (!curve.steps.empty()) curves.push_back(std::move(curve));
  };
  add("loss", &documents::TrainingPoint::loss);
  add("test loss", &documents::TrainingPoint::test_loss);
  add("accuracy", &documents::TrainingPoint::accuracy);
}

void add_drift(const std::string& model, const documents::TrainingDrift& drift, std::vector<Curve>& curves) {
  const std::string pair = fmt::format("{}/{}–{}", model, drift.left, drift.right);
  Curve outputs{pair, "drift of the outputs", drift.repetition, {}, {}};
  Curve weights{pair, "drift of the weights (largest)", drift.repetition, {}, {}};
  for (const documents::TrainingDistance& point : drift.points) {
    if (point.layers.empty() || point.weights.empty()) continue;
    for (Curve* const curve : {&outputs, &weights}) curve->steps.push_back(static_cast<double>(point.epoch));
    outputs.values.push_back(point.layers.back());
    weights.values.push_back(*std::ranges::max_element(point.weights));
  }
  if (outputs.steps.empty()) return;
  curves.push_back(std::move(outputs));
  curves.push_back(std::move(weights));
}

Result<CurveFile> read(const CurveSource& source) {
  DRIFTSCOPE_TRY(const nlohmann::ordered_json json, parse_document(source.text()));
  const auto format = json.is_object() ? json.find("format") : json.end();
  if (!json.is_object() || format == json.end() || *format != current)
    return bad_input(fmt::format("expected \"format\": \"{}\", which this version reads", current));
  documents::Training document;
  DRIFTSCOPE_CHECK(read_json(json, JsonPath(), document));
  CurveFile file;
  for (const documents::TrainingModel& model : document.models) {
    for (const documents::TrainingRun& run : model.runs) add_run(model.name, run, file.curves);
    for (const documents::TrainingDrift& drift : model.drift) add_drift(model.name, drift, file.curves);
  }
  if (file.curves.size() > max_curves)
    return limit_error(fmt::format("{} curves, more than {}", file.curves.size(), max_curves));
  for (const std::string& plant : document.planted)
    file.notes.push_back(fmt::format("a fault was planted: {}", plant));
  for (const documents::TrainingFailure& failure : document.failed)
    file.notes.push_back(fmt::format("{}: {}", failure.what, failure.error));
  file.training = std::make_shared<const documents::Training>(std::move(document));
  return file;
}

}  // namespace

void add_to(CurveFormatTable& table) {
  table.add({.order = 20, .name = "training", .what = "driftscope-training-1", .fits = fits, .read = read});
}

}  // namespace driftscope::curve_formats::training
