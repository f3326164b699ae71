// Graph → Plan: node after node in topological order, each by what an engine implements for its operator, or
// by a fallback kernel where it implements none or declines. It tracks in which forms (layout and memory)
// every value exists so far and converts where a reader needs another one: so the layouts of the whole
// graph are planned. An engine derives from it, see "engines implement". Clients: engines/fast, the
// operators of engines. It runs nothing and knows no compute library.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "core/lowering/fallback_step.hpp"
#include "core/lowering/map_step.hpp"
#include "core/lowering/plan.hpp"
#include "core/lowering/rearrange.hpp"

namespace driftscope::lowering {

/// Bounds that an operator applies to its result: Relu, Clip.
struct Clamp {
  float min = -std::numeric_limits<float>::infinity();
  float max = std::numeric_limits<float>::infinity();
  [[nodiscard]] bool none() const { return *this == Clamp{}; }
  bool operator==(const Clamp&) const = default;
};

/// What an operator computes together with the nodes that follow it.
struct Fusion {
  ValueId output = no_value;  ///< of the last of them
  std::vector<NodeId> nodes;  ///< those after the first
  Clamp clamp;
  ValueId addend = no_value;  ///< added before the clamp, of the output's shape
};

struct LoweringOptions {
  bool fuse = false;       ///< nodes may be merged, and the values between them never exist
  bool hand_over = false;  ///< values that exist after a node have memory of their own
};

/// A value that exists in one form and is wanted in another.
struct Conversion {
  DType dtype = DType::float32;  ///< of the value; its buffers say as what they hold it
  Shape shape;
  Form from;
  Form to;
  BufferId source = no_buffer;
  BufferId target = no_buffer;  ///< its size is given by memory_size
};

class GraphLowering {
 public:
  /// `graph` may come from passes: its values keep the ids that they have in the original,
  /// and new ones follow. `producers`: of each value of the original. Packed weights
  /// are removed from `graph`. `home`: the memory space that this engine's steps read and write.
  GraphLowering(Graph& graph, std::vector<NodeId> producers, LoweringOptions options, Fallback& fallback,
                Space home);
  virtual ~GraphLowering() = default;
  GraphLowering(const GraphLowering&) = delete;
  GraphLowering& operator=(const GraphLowering&) = delete;

  /// To be called once.
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
  /// Whether a step of this engine makes the value, in the engine's own memory.
  [[nodiscard]] bool made_here(ValueId id) const;
  /// Of a value whose shape is known, as is_float says.
  [[nodiscard]] Shape shape(ValueId id) const { return *graph_.values[id].static_shape(); }
  /// The node that makes it, else null.
  [[nodiscard]] const Node* producer(ValueId id) const;
  /// When fusing: the one node that reads a value that is not a graph output.
  [[nodiscard]] std::optional<NodeId> only_reader(ValueId id) const;
  [[nodiscard]] std::int64_t bytes_of(BufferId id) const { return plan_.buffers[id].bytes; }
  /// In which layout the value was made.
  [[nodiscard]] Layout layout(ValueId id) const;
  /// Of Relu and Clip with known bounds, the lower one below the upper one.
  [[nodiscard]] std::optional<Clamp> clamp_of(const Node& node) const;
  /// The node's output 0 and, when fusing, the activation behind it.
  [[nodiscard]] Fusion with_activation(const Node& node) const;
  /// The same, and before the activation an Add of a float value that exists already.
  [[nodiscard]] Fusion with_sum(const Node& node) const;

  // ---- what operators make

  /// The value in this layout in the engine's own memory; converted unless it exists in this form. Constants
  /// too.
  [[nodiscard]] Result<BufferId> read(ValueId id, Layout layout) { return read_as(id, {layout, home_}); }
  /// What `map` makes of a value of known shape, on the host in every run (of a constant: now), as float32
  /// of the same shape in the engine's own memory. For operands that an engine has no type for.
  [[nodiscard]] Result<BufferId> read_mapped(ValueId id, Layout layout, HostMap map);
  /// A new constant, in the engine's own memory.
  [[nodiscard]] BufferId keep(Tensor tensor, Layout layout = {}) {
    return keep_as(std::move(tensor), {layout, home_});
  }
  /// The memory of a value, which the next step writes.
  [[nodiscard]] BufferId write(ValueId id, Layout layout);
  [[nodiscard]] BufferId scratch(std::size_t bytes);
  /// float32 of this shape, which belongs to no value of the graph.
  [[nodiscard]] BufferId scratch_value(Shape shape, Layout layout);
  /// Makes the value another view of this memory.
  void alias(ValueId id, BufferId source, Layout layout);

  void emit(PlannedStep step) { plan_.steps.push_back(std::move(step)); }
  /// The following nodes become part of this one.
  void absorb(const Fusion& fusion);
  /// When fusing: the node runs only if its output turns out to be read. Returns whether it can be deferred.
  [[nodiscard]] bool defer(const Node& node);

 protected:
  // ---- engines implement

  /// Makes the steps of a node. False: the engine does not run it, the fallback does; steps emitted before
  /// must not write a value of the graph then.
  [[nodiscard]] virtual Result<bool> lower_node(const Node& node) = 0;

  /// Emits a step that converts `source` to `target`. Within one space one of the layouts is plain, and the
  /// other orders its elements differently.
  [[nodiscard]] virtual Status emit_conversion(const Conversion& conversion) = 0;

  /// The type of the elements that stand for those of a value in the engine's own memory: a device that has
  /// no integers holds small ones as float32. Conversions between spaces translate.
  [[nodiscard]] virtual DType held_as(DType dtype) const { return dtype; }

  /// Writes a constant's elements in the order of `to` (one of the layouts is plain), while planning. By
  /// default one element after the other, for layouts without packing.
  [[nodiscard]] virtual Result<Tensor> arrange(const Constant& constant, Layout to) const;

  /// Bytes that a buffer takes; by default those of its elements.
  [[nodiscard]] virtual std::int64_t memory_size(const Buffer& buffer) const;
  /// For spaces of whole objects: which buffers may share one. By default those of the same size.
  [[nodiscard]] virtual std::uint64_t object_kind(const Buffer& buffer) const;
  [[nodiscard]] virtual MemoryRules memory_rules(Space /*space*/) const { return {}; }

  /// Whose memory a buffer views, or itself.
  [[nodiscard]] const Buffer& root_of(BufferId id) const { return plan_.buffers[plan_.root(id)]; }

 private:
  struct Existing {
    Form form;
    BufferId buffer;
  };

  [[nodiscard]] BufferId add(Buffer buffer);
  [[nodiscard]] DType held(DType dtype, Space space) const { return space == home_ ? held_as(dtype) : dtype; }
  [[nodiscard]] Result<Tensor> held(const Tensor& tensor, Space space) const;
  [[nodiscard]] BufferId keep_as(Tensor tensor, Form form);
  [[nodiscard]] Result<BufferId> read_as(ValueId id, Form form);
  [[nodiscard]] Result<BufferId> read_plain_host(ValueId id) { return read_as(id, {}); }
  [[nodiscard]] Status add_inputs();
  [[nodiscard]] Status lower(NodeId id);
  [[nodiscard]] bool waits(const Node& node) const;  // until its value is read: see defer
  void release_weights(NodeId id);
  void release_inputs(NodeId id);
  [[nodiscard]] bool is_known(const Node& node) const;  // all its outputs are constants
  [[nodiscard]] Status make(const Node& node);
  /// Handles a node whose outputs are known before it runs.
  [[nodiscard]] bool take_constants(const Node& node);
  [[nodiscard]] Status fall_back(const Node& node);
  [[nodiscard]] Result<BufferId> convert(ValueId id, Existing from, Form to);
  [[nodiscard]] NodeId original_node(const Node& node) const;
  void add_activation(Fusion& fusion) const;

  Graph& graph_;
  std::vector<NodeId> producers_;
  LoweringOptions options_;
  Fallback& fallback_;
  Space home_;
  Plan plan_;
  std::vector<std::vector<Existing>> existing_;  // by value; the first is the form it was made in
  std::vector<std::vector<NodeId>> readers_;     // by value, as often as it is read
  std::vector<bool> is_output_;
  std::vector<bool> was_folded_;                         // by node: its outputs were constants from the start
  std::vector<bool> absorbed_;                           // by node
  std::vector<const Node*> deferred_;                    // by value
  std::vector<std::pair<ValueId, BufferId>> made_late_;  // deferred values of this node
  NodeId last_of_group_ = no_node;
};

}  // namespace driftscope::lowering
