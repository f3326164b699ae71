#include "native/host/dataset_run.hpp"

#include "core/compare/dataset_predictions.hpp"

namespace driftscope {

Result<DatasetRun> run_dataset(TargetRunner& runner, const Target& target, const ModelFile& model,
                               const GivenDataset& dataset, const TargetProgress& progress) {
  RunRequest request;
  request.model = &model;
  request.inputs = dataset.stacked;
  request.plan.samples = dataset.samples;
  request.plan.capture = messages::Capture::outputs;
  DatasetRun run;
  DRIFTSCOPE_TRY(run.trace, runner.run(target, request, progress));
  DRIFTSCOPE_TRY(run.result,
                 dataset_predictions(model.graph, run.trace, dataset.samples, dataset.labels, target.text()));
  return run;
}

}  // namespace driftscope
