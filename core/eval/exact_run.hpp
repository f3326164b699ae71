// A whole graph in double, nothing rounded between its nodes. Client: sensitivity. The reference engine
// rounds each value to its type, as a target has to.
#pragma once

#include <functional>
#include <vector>

#include "core/eval/evaluated.hpp"
#include "core/graph/graph.hpp"

namespace driftscope {

/// Calls each(value) for every input and output of a node, in order; the value is freed
/// after its last reader. `inputs`: as graph.inputs. Errors: those of a node, named, and those of `each`.
[[nodiscard]] Status run_exactly(const Graph& graph, const std::vector<Tensor>& inputs, ThreadPool& threads,
                                 const std::function<Status(ValueId, const Evaluated<double>&)>& each);

}  // namespace driftscope
