// A part of a model alone, one node where that is enough, with what a trace recorded before and after it:
// what a report to a maker is made of. Clients: reduce, the files of a report (report_files.hpp), the
// commands repro and reduce.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"
#include "core/trace/trace_view.hpp"
#include "core/verify/layer_verdict.hpp"

namespace driftscope {

class ThreadPool;

struct Excerpt {
  Graph graph;                      ///< the node that is judged is the last one; constants are initializers
  std::vector<NamedTensor> inputs;  ///< recorded, in the order of graph.inputs
  NamedTensor got;                  ///< the output that is judged, as recorded
  Tensor expected;                  ///< float64, or of the output's type if that is an integer
  Tensor bound;                     ///< float64, what rounding explains by element; 0 of integers
  LayerVerdict verdict;             ///< of the recorded value
  bool plainer = false;             ///< some numbers are not those of the model any more

  [[nodiscard]] const Node& node() const { return graph.nodes.back(); }
};

/// The node with what makes its inputs, `before` steps back. Values get the names x0, w0, y and nodes n0, n1,
/// so that names of the user's model are not disclosed. Errors: no such node; an input or output was not
/// recorded; a node has no reference, or has a body.
[[nodiscard]] Result<Excerpt> excerpt_of(const Graph& graph, const TraceView& trace, const std::string& node,
                                         ThreadPool& threads, int before = 0);

/// Computes expected and bound from the inputs, in the error model of the engine that made `about`.
[[nodiscard]] Status set_expected(Excerpt& excerpt, const Trace& about, ThreadPool& threads);

}  // namespace driftscope
