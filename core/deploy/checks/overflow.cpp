// With --run: layers that make NaN or infinity of finite numbers, and values that float16 cannot hold.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/format.hpp"
#include "core/deploy/deploy_check.hpp"

namespace driftscope::deploy_checks::overflow {

namespace {

constexpr double largest_half = 65504.0;
/// Half a step above it: from here on rounding gives infinity.
constexpr double rounds_to_infinity = 65520.0;
/// Other inputs may well be some times larger than the one that ran.
constexpr double headroom = 4.0;

/// Layers for which `wanted` holds: the first, and how many.
template <class Wanted>
std::pair<const LayerRange*, std::int64_t> first_of(const DeployRuns& runs, Wanted wanted) {
  const LayerRange* first = nullptr;
  std::int64_t count = 0;
  for (const LayerRange& layer : runs.layers) {
    if (!wanted(layer)) continue;
    if (first == nullptr) first = &layer;
    ++count;
  }
  return {first, count};
}

DeployFinding made_here(const DeployRuns& runs, const LayerRange& layer, std::int64_t count) {
  const bool shown =
      std::ranges::any_of(runs.outputs, [](const NamedRange& output) { return !output.range.finite(); });
  return {.severity = shown ? DeploySeverity::error : DeploySeverity::warning,
          .where = layer.node,
          .count = count,
          .shows = shown ? "answers hold NaN or infinity"
                         : "a layer makes NaN or infinity, and a later one hides it: answers may be wrong",
          .why = fmt::format("{} ({}) has {}, made of finite numbers (input {})", layer.value,
                             dtype_name(layer.range.dtype), not_finite_text(layer.range), runs.input),
          .fix = layer.range.dtype == DType::float16
                     ? "keep this layer and those that feed it in float32"
                     : "bound what the layer reads (a small ε in a division, a logarithm or a root)"};
}

std::vector<DeployFinding> find(const DeployContext& context) {
  std::vector<DeployFinding> findings;
  if (context.runs == nullptr) return findings;
  const DeployRuns& runs = *context.runs;
  if (!runs.no_layers.empty())
    findings.push_back({.severity = DeploySeverity::note,
                        .where = context.model->name,
                        .shows = "whether layers overflow is not known",
                        .why = fmt::format("pc/strict does not run the model: {}", runs.no_layers),
                        .fix = "compare the answers of two targets that run it"});
  if (const auto [layer, count] =
          first_of(runs, [](const LayerRange& one) { return !one.range.finite() && one.finite_inputs; });
      layer != nullptr)
    findings.push_back(made_here(runs, *layer, count));
  if (const auto [layer, count] = first_of(runs,
                                           [](const LayerRange& one) {
                                             return one.range.dtype == DType::float16 && one.range.finite() &&
                                                    one.range.largest * headroom > largest_half;
                                           });
      layer != nullptr)
    findings.push_back({.severity = DeploySeverity::warning,
                        .where = layer->node,
                        .count = count,
                        .shows = "another input may overflow float16 here",
                        .why = fmt::format("{} reaches {} of at most 65504 (input {})", layer->value,
                                           format_number(layer->range.largest), runs.input),
                        .fix = "keep this layer in float32, or scale what it reads"});
  if (const auto [layer, count] = first_of(runs,
                                           [](const LayerRange& one) {
                                             return one.range.dtype == DType::float32 &&
                                                    one.range.largest >= rounds_to_infinity;
                                           });
      layer != nullptr)
    findings.push_back(
        {.severity = DeploySeverity::note,
         .where = layer->node,
         .count = count,
         .shows = "in float16 this model would overflow",
         .why = fmt::format("{} reaches {}; the largest number of float16 is 65504 (input {})", layer->value,
                            format_number(layer->range.largest), runs.input),
         .fix = "keep such layers in float32: driftscope quantize --mode float16 --keep LAYER"});
  return findings;
}

}  // namespace

void add_to(DeployCheckTable& table) {
  table.add({.name = "overflow",
             .about = "layers that make NaN or infinity, and values beyond float16",
             .find = find});
}

}  // namespace driftscope::deploy_checks::overflow
