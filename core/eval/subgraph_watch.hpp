// Who looks at the nodes inside If, Loop and Scan while they run. Kernels of control flow run on the thread
// that polls the session, whichever engine it is, so that an engine that runs them need not know of it.
// Clients: subgraph_run.hpp calls it; the recording of a trace is one.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/result.hpp"
#include "core/graph/graph.hpp"

namespace driftscope {

class SubgraphWatch {
 public:
  virtual ~SubgraphWatch() = default;
  /// The subgraph of `owner` runs, for the first time or the next iteration (counted from 0). What follows is
  /// about it, until leave; subgraphs inside it enter and leave in between.
  virtual void enter(const Node& owner, const Subgraph& subgraph, std::int64_t iteration) = 0;
  virtual void leave() = 0;
  /// No more iterations of `owner`, which `ran` so many.
  virtual void finished(const Node& owner, std::int64_t ran) = 0;

  /// Whether any value of this run may be wanted, for runtimes that must be asked for them before.
  [[nodiscard]] virtual bool wants_values() const = 0;
  [[nodiscard]] virtual bool wants(const Graph& inside, ValueId value) const = 0;
  /// Inputs of the subgraph come first.
  virtual Status value(const Graph& inside, ValueId value, const Tensor& tensor) = 0;
  /// Nothing where the time is not known.
  virtual void node_done(const Graph& inside, NodeId node, std::optional<std::int64_t> time_ns) = 0;
};

/// Of this thread; null where nobody looks.
[[nodiscard]] SubgraphWatch* subgraph_watch();

/// Sets it for a scope, on this thread.
class SubgraphWatchScope {
 public:
  explicit SubgraphWatchScope(SubgraphWatch* watch);
  ~SubgraphWatchScope();
  SubgraphWatchScope(const SubgraphWatchScope&) = delete;
  SubgraphWatchScope& operator=(const SubgraphWatchScope&) = delete;

 private:
  SubgraphWatch* previous_;
};

}  // namespace driftscope
