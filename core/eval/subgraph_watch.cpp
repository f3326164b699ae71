#include "core/eval/subgraph_watch.hpp"

namespace driftscope {
namespace {
thread_local SubgraphWatch* current = nullptr;
}

SubgraphWatch* subgraph_watch() { return current; }

SubgraphWatchScope::SubgraphWatchScope(SubgraphWatch* watch) : previous_(current) { current = watch; }
SubgraphWatchScope::~SubgraphWatchScope() { current = previous_; }

}  // namespace driftscope
