// ai.onnx.ml TreeEnsemble, opset 5, TreeEnsembleRegressor and TreeEnsembleClassifier, opset 1 to 5: each tree
// takes a row to one of its leaves, whose weights are summed (or averaged, or the smallest or largest of them
// taken) for each target or class. Thresholds are compared exactly: an input that is known has one leaf.
//
// Strict definition (float): one accumulator per target, in the order of the trees, then the base value.
// Compiled for size on the web (cmake/core.cmake).
#include "core/ops/ml/shared/tree_ensemble.hpp"

#include <fmt/format.h>

namespace driftscope::ops::tree_ensemble {

struct Kernel {
  template <class S>
  static Status run(KernelContext<S>& context) {
    DRIFTSCOPE_TRY(const ml::TreeEnsemble trees, ml::read_tree_ensemble(context.node()));
    const ml::Rows rows = ml::rows_of(context.shape(0));
    if (rows.features < trees.features)
      return bad_input(fmt::format("input 0 (X): expected at least {} features, as the trees ask for, got {}",
                                   trees.features, rows.features));
    DRIFTSCOPE_TRY(ml::Outputs<S> outputs, ml::outputs_of(context, trees.labels.count > 0));
    std::vector<S> unwanted;  // the scores are needed for the labels
    if (outputs.scores.empty()) {
      unwanted.resize(static_cast<std::size_t>(rows.count * trees.targets));
      outputs.scores = unwanted;
    }
    const ml::Numbers<S> x(context, 0);
    const ml::TreeRows<S> work(trees, x, rows, outputs.scores, outputs.labels, outputs.bounds);
    context.parallel_for(rows.count, work.grain(),
                         [&](std::int64_t begin, std::int64_t end) { work.run(begin, end); });
    return {};
  }
};

void add_to(OperatorTable& table) {
  for (const std::string_view op_type : {"TreeEnsemble", "TreeEnsembleRegressor", "TreeEnsembleClassifier"}) {
    const int outputs = op_type == "TreeEnsembleClassifier" ? 2 : 1;
    table.add(with_kernels<Kernel>({.op_type = op_type,
                                    .domain = ml::domain,
                                    .since = op_type == "TreeEnsemble" ? 5 : 1,
                                    .inputs = {1, 1},
                                    .outputs = {outputs, outputs},
                                    .infer = ml::tree_ensemble_types}));
  }
}

}  // namespace driftscope::ops::tree_ensemble
