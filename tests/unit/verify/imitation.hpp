// Imitations of other runtimes: float32 engines that sum in another order than ours, fuse, fold or
// have a chosen fault. They make traces for verify to judge. Clients: tests of verify.
// Operators without sums are left to the strict kernels.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.hpp"
#include "core/trace/trace.hpp"

namespace driftscope::test {

/// How sums are formed.
struct Arithmetic {
  std::string name;
  std::function<float(std::span<const float> a, std::span<const float> b, float bias)> dot;
  std::function<float(std::span<const float>)> sum;
  bool reciprocal_mean = false;  ///< means multiply by 1/n instead of dividing by n
  bool folded_norm = false;      ///< BatchNormalization as x·a + b
};

/// Orders that correct runtimes use.
[[nodiscard]] const std::vector<Arithmetic>& correct_arithmetics();
/// Truncates after each operation instead of rounding.
[[nodiscard]] Arithmetic truncating();
/// Factors cut to bfloat16 first, sums in float32 (a "fast math" matrix unit).
[[nodiscard]] Arithmetic bfloat16_factors();
/// Sums rounded to binary16 after every addition.
[[nodiscard]] Arithmetic half_accumulator();

class Imitation {
 public:
  Imitation(const Graph& graph, Arithmetic arithmetic);

  /// The result of a node's faulty kernel: receives its inputs, and its correct outputs to corrupt.
  using Fault = std::function<void(const Imitation&, const Node&, std::span<const Tensor* const>,
                                   std::vector<Tensor>&)>;
  void plant(const std::string& node, Fault fault) { faults_[node] = std::move(fault); }
  /// One node is computed in another way.
  void compute_with(const std::string& node, Arithmetic arithmetic) {
    special_[node] = std::move(arithmetic);
  }
  /// Values missing in the trace, as after fusion.
  void hide(const std::string& value) { hidden_.push_back(value); }

  [[nodiscard]] Trace run(const std::vector<NamedTensor>& inputs) const;
  /// The right outputs of one node in this arithmetic.
  [[nodiscard]] std::vector<Tensor> compute(const Node& node, std::span<const Tensor* const> inputs) const;

 private:
  const Graph& graph_;
  Arithmetic arithmetic_;
  std::map<std::string, Fault> faults_;
  std::map<std::string, Arithmetic> special_;
  std::vector<std::string> hidden_;
};

}  // namespace driftscope::test
