// Compiled for size on the web (cmake/core.cmake).
#include "core/lowering/simplify.hpp"

#include "core/graph/passes/passes.hpp"
#include "core/lowering/fold_constants.hpp"

namespace driftscope::lowering {

// Identities first: they would hide which node reads a value.
std::shared_ptr<Graph> simplified(std::shared_ptr<const Graph> graph, bool fuse, ThreadPool& threads) {
  Graph result = fold_constants(*graph, threads);
  graph.reset();  // weights that are folded or packed are freed, unless the caller keeps them
  if (fuse) {
    result = remove_identities(std::move(result));
    result = fuse_gelu(fold_batch_normalization(fold_pads(std::move(result))));
  }
  return std::make_shared<Graph>(std::move(result));
}

void release_constants(Graph& graph, const Plan& plan) {
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    auto& constant = graph.values[id].constant;
    if (!plan.read_by_fallback[id])
      constant.reset();
    else if (constant)
      (void)constant->bytes();
  }
  for (const Buffer& buffer : plan.buffers)
    if (buffer.storage == Storage::constant) (void)buffer.constant.bytes();
}

}  // namespace driftscope::lowering
