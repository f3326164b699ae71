// Sizes for inputs that the model leaves open: the first ordinary ones with which all shapes of the graph
// work out. Found by shape inference alone, the same on every host; nothing runs. Client: found inputs.
#pragma once

#include <string>
#include <vector>

#include "core/graph/graph.hpp"

namespace driftscope {

struct FoundSizes {
  std::vector<Shape> shapes;  ///< of graph.inputs, in their order
  Graph bound;                ///< with these shapes
  struct Open {
    std::string symbol;  ///< of the model; empty: an input's axis without a name
    std::string input;   ///< the first that has it
    std::int64_t size = 0;
  };
  std::vector<Open> open;  ///< what the model left open, and the size that was chosen
};

/// `model` is named in the command that the error shows. Errors: an input of unknown shape; no choice fits,
/// within a number of tries that shrinks with the graph: all inputs are listed, with a command to fill in.
[[nodiscard]] Result<FoundSizes> find_sizes(const Graph& graph, const std::string& model);

/// "driftscope run MODEL --dim time=… --input-shape x=1x3x?x?": what a user has to fill in.
[[nodiscard]] std::string command_to_fill_in(const Graph& graph, const std::string& model);

}  // namespace driftscope
