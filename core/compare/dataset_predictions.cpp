#include "core/compare/dataset_predictions.hpp"

#include <fmt/format.h>

#include "core/verify/top1.hpp"

namespace driftscope {

Result<std::vector<std::int64_t>> predicted_classes(const Graph& graph, const Trace& trace,
                                                    std::int64_t samples, std::string_view target) {
  const std::string output = graph.value_name(graph.outputs.front());
  const Tensor* answers = trace.find(output);
  if (answers == nullptr)
    return internal_error(fmt::format("{}: the trace has no output '{}'", target, output));
  auto predictions = top1(*answers);
  if (!predictions || std::ssize(*predictions) != samples)
    return unsupported(fmt::format(
        "{}: output '{}' has shape {} ({}): a data set needs one row of float32 scores per sample", target,
        output, shape_text(answers->shape()), dtype_name(answers->dtype())));
  return *std::move(predictions);
}

DatasetResult dataset_result(std::vector<std::int64_t> predictions, std::span<const std::int64_t> labels) {
  DatasetResult result;
  result.samples = std::ssize(predictions);
  if (!labels.empty()) result.correct = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) result.correct += predictions[i] == labels[i] ? 1 : 0;
  result.predictions = std::move(predictions);
  return result;
}

Result<DatasetResult> dataset_predictions(const Graph& graph, const Trace& trace, std::int64_t samples,
                                          std::span<const std::int64_t> labels, std::string_view target) {
  DRIFTSCOPE_TRY(auto predictions, predicted_classes(graph, trace, samples, target));
  return dataset_result(std::move(predictions), labels);
}

}  // namespace driftscope
