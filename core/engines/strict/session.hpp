// Runs a graph with the strict engine: the fast kernel of a node if there is one, else the scalar
// one. Clients: engine.cpp; tests, which query how many nodes have a fast kernel.
#pragma once

#include <memory>
#include <vector>

#include "core/engines/strict/prepared_nodes.hpp"
#include "core/runtime/node_session.hpp"

namespace driftscope {

class StrictSession final : public NodeSession {
 public:
  /// `threads` ≥ 1; `options` as the user gave them, for the trace. Works on a copy of the graph, so
  /// that packed weights can be released, unless the caller keeps them.
  StrictSession(const std::shared_ptr<const Graph>& graph, SimdTarget simd, int threads,
                std::map<std::string, std::string> options)
      : StrictSession(Copy{std::make_shared<Graph>(*graph)}, std::move(simd), threads, std::move(options)) {}

  /// Packs weights and makes plans; to be called once before the first run.
  [[nodiscard]] Status prepare() { return nodes_.prepare(*own_); }

  [[nodiscard]] RanWith ran_with() const override;

  /// Whether this node (of the graph, or of one inside it) is computed ahead or runs with a kernel of
  /// kernels/.
  [[nodiscard]] bool is_fast(NodeId id) const { return nodes_.is_fast(graph().nodes[id]); }
  [[nodiscard]] bool is_fast(const Node& node) const { return nodes_.is_fast(node); }

 protected:
  [[nodiscard]] Result<std::vector<Tensor>> run_node(NodeId id,
                                                     std::span<const Tensor* const> inputs) override;

 private:
  struct Copy {
    std::shared_ptr<Graph> graph;
  };
  StrictSession(Copy copy, SimdTarget simd, int threads, std::map<std::string, std::string> options);

  std::shared_ptr<Graph> own_;
  SimdTarget simd_;
  int threads_asked_;
  std::map<std::string, std::string> options_;
  ThreadPool threads_;
  PreparedNodes nodes_;
};

}  // namespace driftscope
