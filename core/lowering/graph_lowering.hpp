// Graph → Plan: node after node in topological order, each by its operator's file in operators/, or by
// the strict kernel where there is none or it declines. It knows in which layouts every value exists so
// far and converts where a reader needs another one: that is how the layout of the whole graph is
// planned. Clients: engine.cpp; operators/.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/engines/fast/operator_table.hpp"
#include "core/lowering/plan.hpp"
#include "core/lowering/fallback_step.hpp"
#include "core/engines/fast/xnn.hpp"

namespace driftscope::fast {

/// Bounds that an operator applies to what it computed: Relu, Clip.
struct Clamp {
  float min = -std::numeric_limits<float>::infinity();
  float max = std::numeric_limits<float>::infinity();
  [[nodiscard]] bool none() const { return *this == Clamp{}; }
  bool operator==(const Clamp&) const = default;
};

/// What an operator computes together with the nodes behind it.
struct Fusion {
  ValueId output = no_value;  ///< of the last of them
  std::vector<NodeId> nodes;  ///< behind the first
  Clamp clamp;
};

/// Sets the pointers of an XNNPACK operator.
using SetupOperator = std::function<xnn_status(xnn_operator_t, const Memory&)>;

class Lowering {
 public:
  /// `graph` may be one that passes made: its values keep the numbers that they have in the original,
  /// and what follows those in number is new. `producers`: of each value of the original. Weights that
  /// have been packed leave `graph`. `pool` may be null: one thread. With `hand_over` values are memory of
  /// their own.
  Lowering(Graph& graph, std::vector<NodeId> producers, bool fuse, bool hand_over, pthreadpool_t pool,
           StrictResources& strict);

  [[nodiscard]] Result<Plan> run();

  // ---- what operators ask

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] bool has_input(const Node& node, std::size_t i) const {
    return i < node.inputs.size() && node.inputs[i] != no_value;
  }
  [[nodiscard]] const Value& value(ValueId id) const { return graph_.values[id]; }
  /// The value of an initializer or constant, else null.
  [[nodiscard]] const Tensor* constant(ValueId id) const;
  /// float32 of known shape without a size of 0.
  [[nodiscard]] bool is_float(ValueId id) const;
  /// Of a value for which is_float holds.
  [[nodiscard]] Shape shape(ValueId id) const { return *graph_.values[id].static_shape(); }
  /// What kernels of our own are compiled for.
  [[nodiscard]] const SimdTarget& simd() const { return strict_.simd; }
  [[nodiscard]] ThreadPool& threads() const { return strict_.threads; }
  /// The node that makes it, else null.
  [[nodiscard]] const Node* producer(ValueId id) const;
  /// When fusing: the one node that reads a value which is no output.
  [[nodiscard]] std::optional<NodeId> only_reader(ValueId id) const;
  [[nodiscard]] std::int64_t bytes_of(BufferId id) const { return plan_.buffers[id].bytes; }
  /// In which layout the value was made.
  [[nodiscard]] Layout layout(ValueId id) const;
  /// Of Relu and Clip with known bounds, the lower one below the upper one.
  [[nodiscard]] std::optional<Clamp> clamp_of(const Node& node) const;
  /// The node's output 0 and, when fusing, the activation behind it.
  [[nodiscard]] Fusion with_activation(const Node& node) const;
  /// Threads for this many multiplications or other elementary steps: none for what one thread finishes
  /// before another one wakes up.
  [[nodiscard]] pthreadpool_t pool_for(std::int64_t work) const;

  // ---- what operators make

  /// The value in this layout; converted if it does not exist in it yet. Constants too.
  [[nodiscard]] Result<BufferId> read(ValueId id, Layout layout);
  /// A new constant.
  [[nodiscard]] BufferId keep(Tensor tensor);
  /// The memory of a value that the next step writes.
  [[nodiscard]] BufferId write(ValueId id, Layout layout);
  [[nodiscard]] BufferId scratch(std::size_t bytes);
  /// The value is another view of this memory.
  void alias(ValueId id, BufferId source, Layout layout);

  void emit(PlannedStep step) { plan_.steps.push_back(std::move(step)); }
  /// A step of one XNNPACK operator, created and reshaped. `writes` holds its workspace as well.
  void emit(XnnOperator op, pthreadpool_t pool, std::vector<BufferId> reads, std::vector<BufferId> writes,
            SetupOperator setup, BufferId in_place = no_buffer);
  /// The nodes behind the first are part of it.
  void absorb(const Fusion& fusion);
  /// When fusing: the node runs only if somebody reads its output after all. Returns whether it may wait.
  [[nodiscard]] bool defer(const Node& node);

 private:
  struct Existing {
    Layout layout;
    BufferId buffer;
  };

  [[nodiscard]] BufferId add(Buffer buffer);
  [[nodiscard]] Status lower(NodeId id);
  [[nodiscard]] bool waits(const Node& node) const;  // until a reader wants its value: see defer
  void release_weights(NodeId id);
  [[nodiscard]] Status make(const Node& node);
  /// Of a node whose outputs are known before it runs.
  [[nodiscard]] bool take_constants(const Node& node);
  [[nodiscard]] Status lower_strictly(const Node& node);
  [[nodiscard]] Result<BufferId> convert(ValueId id, const Existing& from, Layout to);
  [[nodiscard]] NodeId original_node(const Node& node) const;

  Graph& graph_;
  std::vector<NodeId> producers_;
  bool fuse_;
  bool hand_over_;
  pthreadpool_t pool_;
  StrictResources& strict_;
  Plan plan_;
  std::vector<std::vector<Existing>> existing_;  // by value; the first is how it was made
  std::vector<std::vector<NodeId>> readers_;     // by value, as often as it is read
  std::vector<bool> is_output_;
  std::vector<bool> absorbed_;                           // by node
  std::vector<const Node*> deferred_;                    // by value
  std::vector<std::pair<ValueId, BufferId>> made_late_;  // deferred values of this node
  NodeId last_of_group_ = no_node;
};

}  // namespace driftscope::fast
