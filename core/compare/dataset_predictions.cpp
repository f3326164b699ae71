#include "core/compare/dataset_predictions.hpp"

#include <fmt/format.h>

#include "core/verify/top1.hpp"

namespace driftscope {

Result<DatasetResult> dataset_predictions(const Graph& graph, const Trace& trace, std::int64_t samples,
                                          std::span<const std::int64_t> labels, std::string_view target) {
  const std::string output = graph.value_name(graph.outputs.front());
  const Tensor* answers = trace.find(output);
  if (answers == nullptr)
    return internal_error(fmt::format("{}: the trace has no output '{}'", target, output));
  auto predictions = top1(*answers);
  if (!predictions || static_cast<std::int64_t>(predictions->size()) != samples)
    return unsupported(fmt::format(
        "{}: output '{}' has shape {} ({}): a data set needs one row of float32 scores per sample", target,
        output, shape_text(answers->shape()), dtype_name(answers->dtype())));
  DatasetResult result;
  result.samples = samples;
  result.predictions = *std::move(predictions);
  if (!labels.empty()) result.correct = 0;
  for (std::size_t i = 0; i < labels.size(); ++i)
    result.correct += result.predictions[i] == labels[i] ? 1 : 0;
  return result;
}

}  // namespace driftscope
