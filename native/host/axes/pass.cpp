// ONNX Runtime's optimisers by name, in the order in which it runs them: from none of these to all of them,
// each level with one more. Names of 1.30; a release ignores those that it lacks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "native/host/bisect_axis.hpp"

namespace driftscope::bisect_axes::pass {
namespace {

constexpr std::string_view option = "optimization.disable_specified_optimizers";

constexpr auto passes = std::to_array<std::string_view>({
    // level 1
    "EliminateIdentity",
    "EliminateSlice",
    "UnsqueezeElimination",
    "EliminateDropout",
    "ExpandElimination",
    "CastElimination",
    "CastChainElimination",
    "PreShapeNodeElimination",
    "NoopElimination",
    "DivMulFusion",
    "FuseReluClip",
    "GemmSumFusion",
    "GemmTransposeFusion",
    "NotWhereFusion",
    "ConvAddFusion",
    "ConvMulFusion",
    "ConvBNFusion",
    "Pad_Fusion",
    "MatMul_BatchNormalization_Fusion",
    "LabelEncoderFusion",
    "DoubleQDQPairsRemover",
    "ConstantSharing",
    "CommonSubexpressionElimination",
    "ConstantFolding",
    "MatMulAddFusion",
    "ReshapeFusion",
    "GeluFusionL1",
    "LayerNormFusionL1",
    "QDQPropagationTransformer",
    "WeightBiasQuantization",
    "EnsureUniqueDQForNodeUnit",
    "TransposeOptimizer",
    // level 2
    "ClipQuantRewrite",
    "ReluQuantRewrite",
    "QDQS8ToU8Transformer",
    "Avx2WeightS8ToU8Transformer",
    "QDQSelectorActionTransformer",
    "GemmActivationFusion",
    "MatMulIntegerToFloatFusion",
    "DynamicQuantizeMatMulFusion",
    "ConvActivationFusion",
    "GeluFusionL2",
    "LayerNormFusionL2",
    "SimplifiedLayerNormFusion",
    "AttentionFusion",
    "EmbedLayerNormFusion",
    "GatherSliceToSplitFusion",
    "GatherToSliceFusion",
    "MatmulTransposeFusion",
    "BiasGeluFusion",
    "GroupQueryAttentionFusion",
    "SkipLayerNormFusion",
    "BiasSkipLayerNormFusion",
    "FastGeluFusion",
    "QuickGeluFusion",
    "BiasSoftmaxFusion",
    "BiasDropoutFusion",
    "MatMulScaleFusion",
    "MatMulActivationFusion",
    "MatMulNBitsFusion",
    "DQMatMulNBitsFusion",
    "GeluApproximation",
    "SliceConcatToSpaceToDepthFusion",
    "QDQFinalCleanupTransformer",
    // level 3
    "ConvAddActivationFusion",
    "NhwcTransformer",
    "NchwcTransformer",
});

/// The level with the first `count` of these.
AxisLevel with_first(std::span<const std::string> names, std::size_t count) {
  AxisLevel level{count == 0 ? "none" : names[count - 1], {}};
  if (count < names.size())
    level.options[std::string(option)] = fmt::format("{}", fmt::join(names.subspan(count), ";"));
  return level;
}

Result<std::vector<AxisLevel>> levels(const AxisRequest& request) {
  if (!request.engine.name().starts_with("ort"))
    return bad_input(
        fmt::format("--over pass: engine {} has no optimisers with names; ort, ort-webgpu and "
                    "ort-webgl have",
                    request.engine.name()));
  const std::vector<std::string> all(passes.begin(), passes.end());
  DRIFTSCOPE_TRY(const auto chosen, chosen_levels(all, request.given, "optimiser"));
  std::vector<AxisLevel> levels;
  for (std::size_t count = 0; count <= chosen.size(); ++count) levels.push_back(with_first(chosen, count));
  return levels;
}

AxisLevel without(std::span<const AxisLevel> levels, std::size_t at) {
  return {fmt::format("all but {}", levels[at].name), {{std::string(option), levels[at].name}}};
}

}  // namespace

void add_to(AxisTable& table) {
  table.add({.name = "pass",
             .summary = "ONNX Runtime's optimisers: none of them, then one more at each level",
             .levels = levels,
             .without = without});
}

}  // namespace driftscope::bisect_axes::pass
