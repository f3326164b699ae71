// The formats that are written have no graphs inside operators that every runtime of them can run: an If
// becomes the nodes of its branches. Clients: from_onnx.cpp, core/convert/tflite.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/convert/tf/operator_table.hpp"
#include "core/graph/graph.hpp"

namespace driftscope::tf {

struct FlatGraph {
  Graph graph;
  /// Nodes of which both branches are computed, the result being chosen afterwards.
  std::vector<std::string> both;
};

/// `graph` has its shapes bound. Constants are folded; where that tells the condition of an If, the branch
/// takes its place. Otherwise both branches do, and a Where chooses between their results: only where these
/// have the same known shapes and no node of a branch can fail by the values it reads, as the branch that
/// is not chosen may well get values that it is not made for. Any other If stays. Values around keep ids and
/// names.
[[nodiscard]] Result<FlatGraph> without_branches(Graph graph);

/// Why an If stayed, in a sentence; empty: it need not.
[[nodiscard]] std::string why_both_cannot_run(const Graph& graph, const OnnxNode& node);

}  // namespace driftscope::tf
