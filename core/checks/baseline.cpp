#include "core/checks/baseline.hpp"

#include "core/base/json.hpp"
#include "core/base/sha256.hpp"
#include "core/results/output.hpp"
#include "core/verify/top1.hpp"
#include "generated/documents/baseline.hpp"

namespace driftscope {
namespace {

// A segmentation has a best class per pixel: its digest says enough.
constexpr std::size_t max_rows = 1000;

void add_target(Baseline& baseline, const TargetResult& result) {
  if (!result.trace || !result.verification) return;
  BaselineTarget target;
  target.target = result.target;
  target.ran = run_text(*result.trace);
  for (const LayerVerdict& layer : result.verification->layers)
    if (concern_of(layer.verdict) != Concern::none)
      target.known.push_back({layer.node, layer.output, layer.verdict});
  if (const Tensor* output = answer(*result.trace)) {
    if (auto best = top1(*output); best && best->size() <= max_rows) target.top1 = *std::move(best);
    target.outputs_sha256 = answer_sha256(*result.trace);
  }
  baseline.targets.push_back(std::move(target));
}

}  // namespace

const BaselineTarget* Baseline::find(const std::string& name) const {
  for (const BaselineTarget& one : targets)
    if (one.target == name) return &one;
  return nullptr;
}

std::string answer_sha256(const Trace& trace) {
  const Tensor* output = answer(trace);
  return output == nullptr ? "" : sha256_hex(output->bytes());
}

Baseline baseline_of(const ComparisonView& view) {
  Baseline baseline;
  baseline.model = view.model_name;
  baseline.model_sha256 = view.model_sha256;
  add_target(baseline, view.left);
  for (const TargetResult& right : view.right) add_target(baseline, right);
  return baseline;
}

std::string baseline_json(const Baseline& baseline) { return json_text(encode(baseline), 1); }

}  // namespace driftscope
