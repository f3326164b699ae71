#include "native/host/dataset_run.hpp"

#include <fmt/format.h>

#include "core/verify/top1.hpp"

namespace driftscope {

Result<DatasetRun> run_dataset(TargetRunner& runner, const Target& target, const ModelFile& model,
                               const GivenDataset& dataset, const TargetProgress& progress) {
  RunRequest request;
  request.model = &model;
  request.inputs = dataset.stacked;
  request.samples = dataset.samples;
  request.capture = Capture::outputs;
  DatasetRun run;
  DRIFTSCOPE_TRY(run.trace, runner.run(target, request, progress));
  const std::string output = model.graph.value_name(model.graph.outputs.front());
  const Tensor* answers = run.trace.find(output);
  if (answers == nullptr)
    return internal_error(fmt::format("{}: the trace has no output '{}'", target.text(), output));
  const auto predictions = top1(*answers);
  if (!predictions || static_cast<std::int64_t>(predictions->size()) != dataset.samples)
    return unsupported(fmt::format(
        "{}: output '{}' has shape {} ({}): a data set needs one row of float32 scores per sample",
        target.text(), output, shape_text(answers->shape()), dtype_name(answers->dtype())));
  run.result.samples = dataset.samples;
  run.result.predictions = *predictions;
  for (std::size_t i = 0; i < dataset.labels.size(); ++i)
    run.result.correct += run.result.predictions[i] == dataset.labels[i] ? 1 : 0;
  return run;
}

}  // namespace driftscope
