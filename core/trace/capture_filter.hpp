// Which values a run keeps when not all are wanted: those of chosen nodes, and those that verify needs to
// judge them. Client: the command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"

namespace driftscope {

/// Non-empty criteria must all be met for a node to be chosen.
struct CaptureFilter {
  std::vector<std::string> nodes;  ///< globs of node names: * any text, ? any character
  std::vector<std::string> ops;    ///< operators: "Conv"
  std::string
      range;  ///< "A..B", both included: node names, or places in the graph from 0; either may be left out

  [[nodiscard]] bool empty() const { return nodes.empty() && ops.empty() && range.empty(); }
};

/// Names of the outputs of the chosen nodes and of the values they read (except constants and graph inputs,
/// which are always kept), in the graph's order. Of nodes inside a loop "loop[*]/name", whichever iteration
/// is asked for. Errors: no node is chosen, a malformed range.
[[nodiscard]] Result<std::vector<std::string>> chosen_values(const Graph& graph, const CaptureFilter& filter);

[[nodiscard]] bool glob_matches(std::string_view glob, std::string_view text);

}  // namespace driftscope
