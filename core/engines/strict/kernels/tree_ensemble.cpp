// Tree ensembles of float32 and float64 inputs: their attributes, which may be millions of numbers, are read
// once and not for each run. The same code as the scalar kernel's, and so the same bits.
#include "core/ops/ml/shared/tree_ensemble.hpp"

#include <algorithm>

#include "core/engines/strict/kernel_table.hpp"

namespace driftscope::strict::tree_ensemble {

class Kernel final : public StrictKernel {
 public:
  Kernel(ml::TreeEnsemble trees, const Node& node, ThreadPool& threads)
      : trees_(std::move(trees)), node_(node), threads_(threads) {}

  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs) override {
    const Tensor& x = *inputs[0];
    const ml::Rows rows = ml::rows_of(x.shape());
    const bool classes = trees_.labels.count > 0;
    std::vector<Tensor> outputs(node_.outputs.size());
    std::span<std::int64_t> labels;
    if (classes && node_.outputs[0] != no_value) {
      DRIFTSCOPE_TRY(outputs[0], Tensor::make(DType::int64, {rows.count}, "labels"));
      labels = outputs[0].mutable_values<std::int64_t>();
    }
    const bool wide = node_.op_type == "TreeEnsemble" && x.dtype() == DType::float64;
    DRIFTSCOPE_TRY(Tensor scores, Tensor::make(wide ? DType::float64 : DType::float32,
                                               {rows.count, trees_.targets}, "scores"));
    if (x.dtype() == DType::float32) {
      run_rows<float>(x, rows, scores.mutable_values<float>(), labels);
    } else if (wide) {
      run_rows<double>(x, rows, scores.mutable_values<double>(), labels);
    } else {  // computed in double, as by the scalar kernel, and rounded once
      std::vector<double> exact(static_cast<std::size_t>(scores.elements()));
      run_rows<double>(x, rows, exact, labels);
      std::transform(exact.begin(), exact.end(), scores.mutable_values<float>().begin(),
                     [](double score) { return static_cast<float>(score); });
    }
    if (const std::size_t place = classes ? 1 : 0; place < outputs.size()) outputs[place] = std::move(scores);
    return outputs;
  }

 private:
  template <class T>
  void run_rows(const Tensor& x, ml::Rows rows, std::span<T> scores, std::span<std::int64_t> labels) {
    const ml::Numbers<T> numbers(x.values<T>());
    const ml::TreeRows<T> work(trees_, numbers, rows, scores, labels, {});
    threads_.parallel_for(rows.count, work.grain(),
                          [&](std::int64_t begin, std::int64_t end) { work.run(begin, end); });
  }

  ml::TreeEnsemble trees_;
  const Node& node_;
  ThreadPool& threads_;
};

std::unique_ptr<StrictKernel> prepare(const StrictSite& site) {
  const DType dtype = site.dtype(0);
  if ((dtype != DType::float32 && dtype != DType::float64) || !site.shape(0)) return nullptr;
  auto trees = ml::read_tree_ensemble(site.node);
  if (!trees.ok() || ml::rows_of(*site.shape(0)).features < trees->features) return nullptr;
  return std::make_unique<Kernel>(*std::move(trees), site.node, site.threads);
}

void add_to(StrictKernelTable& table) {
  for (const char* name : {"TreeEnsemble", "TreeEnsembleRegressor", "TreeEnsembleClassifier"})
    table.add(std::string(ml::domain) + "." + name, &prepare);
}

}  // namespace driftscope::strict::tree_ensemble
