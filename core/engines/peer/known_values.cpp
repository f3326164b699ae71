// Compiled for size on the web (cmake/core.cmake).
#include "core/engines/peer/known_values.hpp"

#include "core/lowering/fold_constants.hpp"

namespace driftscope::peer {
namespace {

constexpr std::size_t max_bytes = 4096;

}  // namespace

std::shared_ptr<const Graph> with_known_values(const std::shared_ptr<const Graph>& graph) {
  ThreadPool one(1);
  Graph folded = lowering::fold_constants(*graph, one);
  for (ValueId id = 0; id < folded.values.size(); ++id)
    if (!graph->values[id].constant && folded.values[id].constant &&
        folded.values[id].constant->bytes().size() > max_bytes)
      folded.values[id].constant.reset();
  return std::make_shared<const Graph>(std::move(folded));
}

}  // namespace driftscope::peer
