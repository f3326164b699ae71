// Runs a graph with inputs and wanted outputs through all three scalars and judges the results.
// Clients: the tests of operators. It reads no files; the callers do.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/eval/evaluate.hpp"
#include "core/graph/graph.hpp"

namespace driftscope::test {

struct GraphCase {
  std::string name;
  Graph graph;
  std::vector<NamedTensor> inputs;
  std::vector<NamedTensor> wanted;  ///< outputs that are compared
  /// For wanted values not computed from this graph: their tolerance, relative.
  double tolerance = 0.0;
  double wanted_error = 0.0;  ///< of the wanted numbers themselves, absolute
};

/// Node after node. Errors are those of evaluate; values by ValueId.
template <class S>
[[nodiscard]] Result<std::vector<Evaluated<S>>> run_graph(const Graph& graph,
                                                          std::span<const NamedTensor> inputs,
                                                          ThreadPool& threads);
[[nodiscard]] Result<std::vector<Tensor>> run_graph_strict(const Graph& graph,
                                                           std::span<const NamedTensor> inputs,
                                                           ThreadPool& threads);

/// The failures, one sentence each; empty when all of this holds for every wanted output:
///   double   within 1e-4 relative (1e-5 of the largest element) of the wanted value
///   Bounded  the wanted value lies within `worst` of the value
///   strict   lies within `worst`, and within `likely`, of the value
///   other types are equal, or within the bounds that a kernel gave their elements
/// Fails with the error of the first run that has one.
[[nodiscard]] Result<std::vector<std::string>> check_case(const GraphCase& c, ThreadPool& threads);

/// Outputs of one node (built into a graph of its own) in the strict kernel.
[[nodiscard]] Result<std::vector<Tensor>> strict_outputs(const Graph& graph,
                                                         std::span<const NamedTensor> inputs);

/// Every element as a double, of any numeric or bool type.
[[nodiscard]] std::vector<double> as_doubles(const Tensor& tensor);

/// The bytes of a file, or an error.
[[nodiscard]] Result<std::vector<std::byte>> read_file(const std::string& path);

}  // namespace driftscope::test
