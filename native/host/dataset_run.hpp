// A whole data set on one target: predictions and accuracy. Clients: run, compare.
#pragma once

#include "core/results/comparison_view.hpp"
#include "native/host/inputs.hpp"
#include "native/host/target_runner.hpp"

namespace driftscope {

struct DatasetRun {
  DatasetResult result;
  Trace trace;  ///< outputs with a leading axis of samples
};

[[nodiscard]] Result<DatasetRun> run_dataset(TargetRunner& runner, const Target& target,
                                             const ModelFile& model, const GivenDataset& dataset,
                                             const TargetProgress& progress);

}  // namespace driftscope
