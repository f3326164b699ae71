// What each recorded output should have been, from the tensors that the trace itself recorded: node
// after node with bounds, taking recorded inputs where there are any and evaluating backwards what was
// not recorded (a fused group) as one, with its bounds carried through.
// Clients: verify. It gives no verdicts.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/eval/evaluate.hpp"
#include "core/graph/graph.hpp"
#include "core/trace/trace_view.hpp"
#include "core/verify/continued_sum.hpp"

namespace driftscope {

/// The trace's tensors by value of the graph.
class RecordedValues {
 public:
  /// The view must outlive this.
  RecordedValues(const Graph& graph, const TraceView& trace);
  /// Name, dtype and shape; null where the trace holds none.
  [[nodiscard]] const SafetensorsEntry* operator[](ValueId value) const {
    return places_[value] == absent ? nullptr : &(*trace_)[places_[value]];
  }
  /// To be called for values that are there.
  [[nodiscard]] Result<Tensor> load(ValueId value) const { return trace_->load(places_[value]); }
  /// Tensors of the trace that are no values of the graph.
  [[nodiscard]] std::size_t unmatched() const { return unmatched_; }

 private:
  static constexpr std::size_t absent = static_cast<std::size_t>(-1);

  const TraceView* trace_;
  std::vector<std::size_t> places_;
  std::size_t unmatched_ = 0;
};

/// One output of a node: its reference, or why there is none.
struct Derived {
  Evaluated<Bounded> reference;
  std::vector<NodeId> group;           ///< nodes evaluated for it whose outputs were not recorded
  std::string reason;                  ///< why there is no reference; empty when there is
  Overflow overflow = Overflow::none;  ///< of an intermediate result, in the node or its group
  /// Of the group, the value furthest on that can still be judged: worth recording as well. None where all
  /// depends on constants.
  ValueId suggestion = no_value;
  std::optional<ContinuedSum> sum;  ///< only of values that were not recorded and that a node continues
  bool continuous = true;  ///< neither the node nor its group rounds to integers, compares or chooses
};

/// What a node reads, in the order of node.reads(); omitted ones have an undefined dtype.
struct DerivationInputs {
  std::vector<Tensor> tensors;
  std::vector<Evaluated<Bounded>> lifted;  ///< as derive lifts them
  std::optional<Tensor> reread;            ///< what was recorded as the output that it reads again itself
};

class Derivation {
 public:
  /// The model of the current scope is the one that derive will use. Errors: an input of the graph
  /// that some recorded output needs is absent.
  [[nodiscard]] static Result<Derivation> plan(const Graph& graph, const RecordedValues& recorded);

  /// Inside of groups biases may be those of quantized_bias.hpp.
  void allow_quantized_biases() { quantized_biases_ = true; }

  /// Inside of groups functions may give 0 for all of the subnormal range: of one that was recorded that is a
  /// known algorithm.
  void allow_flushed_results() { flushed_results_ = true; }

  /// Nodes that must be derived, in order, whether or not their outputs are verified.
  [[nodiscard]] const std::vector<NodeId>& nodes() const { return nodes_; }

  /// References of the outputs of `node` (in their order); to be called for all of nodes() in order.
  /// What was not recorded and is needed by later nodes is moved away and kept until the last of them.
  [[nodiscard]] std::vector<Derived> derive(NodeId node, ThreadPool& threads);

  /// What derive gave and is not needed any more: its memory is used again.
  void recycle(std::vector<Derived> outputs);

  /// Of a node that rounds nothing, between recorded tensors only: its strict results, which are the
  /// reference. derive need not be called where they are what was recorded. Nothing for other nodes.
  [[nodiscard]] std::optional<std::vector<Tensor>> selection(NodeId node, ThreadPool& threads) const;

  /// What `node` reads, where all of it was recorded or is constant.
  [[nodiscard]] std::optional<DerivationInputs> known_inputs(NodeId node) const;

  /// The same without bounds: null where the node omits an input.
  [[nodiscard]] std::optional<std::vector<std::optional<Tensor>>> known_tensors(NodeId node) const;
  /// A value that was recorded or is constant; none for others.
  [[nodiscard]] std::optional<Tensor> known_value(ValueId value) const;
  /// The shape of a value that was recorded or is constant; none for others.
  [[nodiscard]] std::optional<Shape> known_shape(ValueId value) const;

  /// The same output in plain float32, by the strict kernels, from the same recorded tensors. With a seed
  /// other than 0 all of these that are float32 and no single numbers are moved by one unit in the last
  /// place first. With `of_factors`, inputs 0 and 1 of everything that sums products are changed by it.
  [[nodiscard]] std::optional<Tensor> plain_float(ValueId value, ThreadPool& threads, std::uint64_t seed = 0,
                                                  const std::function<float(float)>& of_factors = {}) const;

  /// The chance that two products of the same sum are equal, estimated from how often
  /// numbers other than 0 repeat in the tensors that `node` and its group read: the product of the
  /// two largest of the chances of each tensor.
  [[nodiscard]] double repetition(NodeId node, const Derived& output) const;

 private:
  Derivation(const Graph& graph, const RecordedValues& recorded)
      : graph_(&graph),
        recorded_(&recorded),
        kept_(graph.values.size()),
        uses_(graph.values.size()),
        continued_(graph.values.size()) {}
  [[nodiscard]] bool is_known(ValueId value) const;
  [[nodiscard]] bool continues(const Node& node, std::size_t input) const;
  /// Whether a node gives it, rather than the user or the model.
  [[nodiscard]] bool is_computed(ValueId value) const;
  /// Of a value that is known; a deferred constant is read again.
  [[nodiscard]] Result<Tensor> known_tensor(ValueId value) const;
  /// What was recorded as the output that the node itself reads again.
  [[nodiscard]] std::optional<Tensor> reread_output(const Node& node) const;
  [[nodiscard]] std::vector<Derived> failed(const Node& node, const std::string& reason) const;
  /// Bounds of output 0 as of one sum with those before it, and that sum where later nodes continue it.
  void join_sums(const Node& node, std::span<const Evaluated<Bounded>* const> inputs, Derived& output,
                 ThreadPool& threads);
  /// Of a node whose output was not recorded: input 2 may be off by what quantizing it takes.
  void widen_bias(NodeId id, Evaluated<Bounded>& bias) const;
  void keep(const Node& node, std::vector<Derived>& outputs, bool varies, ThreadPool& threads);

  const Graph* graph_;
  const RecordedValues* recorded_;
  std::vector<NodeId> nodes_;
  std::vector<std::optional<Derived>> kept_;  // unrecorded values that later nodes need
  std::vector<int> uses_;                     // by how many
  std::vector<bool> continued_;               // unrecorded sums that a later node continues
  OutputMemory<Bounded> memory_;
  bool quantized_biases_ = false;
  bool flushed_results_ = false;
};

}  // namespace driftscope
