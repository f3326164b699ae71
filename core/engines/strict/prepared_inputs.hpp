// Kernels, and what they were prepared for, compared with what they get: shapes that depend on data, and
// what a file declares of values inside subgraphs, may turn out otherwise. Clients: prepared_nodes, fallback.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/engines/strict/kernel_table.hpp"
#include "core/eval/evaluate.hpp"

namespace driftscope::strict {

class PreparedInputs {
 public:
  PreparedInputs() = default;
  explicit PreparedInputs(const StrictSite& site);

  /// Whether type and shape of all given inputs are known before the run: else no kernel may be prepared.
  [[nodiscard]] static bool known(const StrictSite& site);

  enum class Fit { yes, no, never };  ///< never: and weights that the scalar kernel would need are released
  [[nodiscard]] Fit fit(const StrictKernel& kernel, std::span<const Tensor* const> inputs) const;

 private:
  std::vector<TensorType> types_;
};

/// The kernel for a node, made for what is known of its inputs; null where the scalar one is left to run.
[[nodiscard]] std::unique_ptr<StrictKernel> prepare_kernel(const StrictSite& site);

/// The kernel on these inputs; the scalar one when they are others than it was prepared for.
template <class Scalar>
[[nodiscard]] Result<std::vector<Tensor>> run_prepared(StrictKernel& kernel, const PreparedInputs& expected,
                                                       const Node& node,
                                                       std::span<const Tensor* const> inputs,
                                                       const Scalar& scalar) {
  switch (expected.fit(kernel, inputs)) {
    case PreparedInputs::Fit::yes: return kernel.run(inputs);
    case PreparedInputs::Fit::no: return scalar();
    default: break;
  }
  return internal_error(node_label(node) + ": its inputs have other types or shapes than were planned");
}

}  // namespace driftscope::strict
