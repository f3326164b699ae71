// The correct value of each recorded output, from the tensors that the trace itself recorded: node
// after node with bounds, using recorded inputs where possible. Values that were not recorded (a fused
// group) are evaluated back to recorded ones, with bounds carried through all of them.
// Clients: verify. It gives no verdicts.
#pragma once

#include <functional>
#include <map>
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
  /// To be called only for recorded values.
  [[nodiscard]] Result<Tensor> load(ValueId value) const { return trace_->load(places_[value]); }
  /// Number of tensors in the trace that are not values of the graph.
  [[nodiscard]] std::size_t unmatched() const { return unmatched_; }

 private:
  static constexpr std::size_t absent = static_cast<std::size_t>(-1);

  const TraceView* trace_;
  std::vector<std::size_t> places_;
  std::size_t unmatched_ = 0;
};

/// One output of a node: its reference, or why it has none.
struct Derived {
  Evaluated<Bounded> reference;
  std::vector<NodeId> group;           ///< nodes evaluated for it whose outputs were not recorded
  std::string reason;                  ///< why there is no reference; empty when there is
  Overflow overflow = Overflow::none;  ///< of an intermediate result, in the node or its group
  /// The latest value of the group that can still be judged: worth recording as well. None if all values
  /// depend only on constants.
  ValueId suggestion = no_value;
  std::optional<ContinuedSum> sum;  ///< only for values that were not recorded and that a node continues
  bool continuous = true;  ///< neither the node nor its group rounds to integers, compares or chooses
};

/// What a node reads, in the order of node.reads().
struct DerivationInputs {
  std::vector<Tensor> tensors;             ///< empty where an optional one is omitted; see tensor()
  std::vector<Evaluated<Bounded>> lifted;  ///< as lifted by derive; omitted ones have an undefined dtype
  std::optional<Tensor> reread;            ///< the recorded output that the node reads again itself

  /// What the node reads in this place; null: it is omitted.
  [[nodiscard]] const Tensor* tensor(std::size_t place) const {
    const bool given = place < tensors.size() && lifted[place].dtype != DType::undefined;
    return given ? &tensors[place] : nullptr;
  }
};

class Derivation {
 public:
  /// `model`: of the engine that made the trace. Errors: an input of the graph that some recorded output
  /// needs is absent.
  [[nodiscard]] static Result<Derivation> plan(const Graph& graph, const RecordedValues& recorded,
                                               const ErrorModel& model);

  /// Inside groups biases may be those of quantized_bias.hpp.
  void allow_quantized_biases() { quantized_biases_ = true; }

  /// Inside groups, functions may return 0 for results in the subnormal range; for a recorded node
  /// that is a known algorithm instead.
  void allow_flushed_results() { flushed_results_ = true; }

  /// Nodes that must be derived, in order, whether or not their outputs are verified.
  [[nodiscard]] const std::vector<NodeId>& nodes() const { return nodes_; }

  /// References of the outputs of `node` (in their order); to be called for all of nodes() in order.
  /// Values not recorded but needed by later nodes are moved away and kept until the last of them.
  [[nodiscard]] std::vector<Derived> derive(NodeId node, ThreadPool& threads);

  /// Returns results of derive that are no longer needed: their memory is reused.
  void recycle(std::vector<Derived> outputs);

  /// For a node that does not round and has only recorded neighbours: its strict results, which are the
  /// reference. If they equal the recorded ones, derive need not be called. Nothing for other nodes.
  [[nodiscard]] std::optional<std::vector<Tensor>> selection(NodeId node, ThreadPool& threads) const;

  /// Output `output` of the node once more with the group before it, in another error model, or with other
  /// values in place of recorded ones. Nothing where that cannot be done.
  [[nodiscard]] std::optional<Evaluated<Bounded>> derive_again(
      std::span<const NodeId> group, NodeId node, std::size_t output, const ErrorModel& model,
      const std::map<ValueId, const Evaluated<Bounded>*>& instead, ThreadPool& threads) const;
  /// Output 0 of a node that is not in the graph, on values of the group before a recorded one: one
  /// operator in place of several. Nothing where that cannot be done.
  [[nodiscard]] std::optional<Evaluated<Bounded>> derive_instead(std::span<const NodeId> group,
                                                                 const Node& node, const ErrorModel& model,
                                                                 ThreadPool& threads) const;
  /// The error model that the trace is judged in.
  [[nodiscard]] const ErrorModel& model() const { return model_; }

  /// The inputs of `node`, if all of them were recorded or are constant.
  [[nodiscard]] std::optional<DerivationInputs> known_inputs(NodeId node) const;

  /// The same without bounds: null where the node omits an input.
  [[nodiscard]] std::optional<std::vector<std::optional<Tensor>>> known_tensors(NodeId node) const;
  /// A value that was recorded or is constant; none for others.
  [[nodiscard]] std::optional<Tensor> known_value(ValueId value) const;
  /// The type of a value that was recorded or is constant; undefined for others. Reads no element.
  [[nodiscard]] DType known_dtype(ValueId value) const;
  /// The shape of a value that was recorded or is constant; none for others.
  [[nodiscard]] std::optional<Shape> known_shape(ValueId value) const;

  /// The same output in plain float32, by the strict kernels, from the same recorded tensors. A seed other
  /// than 0 first moves those that are float32, except single numbers, by one unit in the last place, and
  /// results by what rounding may do to them. `of_factors` is applied to inputs 0 and 1 of every node that
  /// sums products. `instead` computes output 0 of a node in place of its strict kernel where it gives one.
  using Instead =
      std::function<std::optional<Tensor>(const Node& node, std::span<const Tensor* const> inputs)>;
  [[nodiscard]] std::optional<Tensor> plain_float(ValueId value, ThreadPool& threads, std::uint64_t seed = 0,
                                                  const std::function<float(float)>& of_factors = {},
                                                  const Instead& instead = {}) const;

  /// The chance that two products of the same sum are equal, estimated from how often
  /// numbers other than 0 repeat in the tensors that `node` and its group read: the product of the
  /// two largest of the chances of each tensor.
  [[nodiscard]] double repetition(NodeId node, const Derived& output) const;

 private:
  Derivation(const Graph& graph, const RecordedValues& recorded, const ErrorModel& model)
      : graph_(&graph),
        recorded_(&recorded),
        model_(model),
        kept_(graph.values.size()),
        uses_(graph.values.size()),
        continued_(graph.values.size()) {}
  [[nodiscard]] bool is_known(ValueId value) const;
  [[nodiscard]] bool continues(const Node& node, std::size_t input) const;
  /// Whether it is the output of a node, not an input or constant.
  [[nodiscard]] bool is_computed(ValueId value) const;
  /// Returns a known value; a deferred constant is read again.
  [[nodiscard]] Result<Tensor> known_tensor(ValueId value) const;
  /// The recorded output that the node itself reads again.
  [[nodiscard]] std::optional<Tensor> reread_output(const Node& node) const;
  /// A known value as the engine reads it.
  [[nodiscard]] std::optional<Evaluated<Bounded>> lifted_known(ValueId value) const;
  [[nodiscard]] std::vector<Derived> failed(const Node& node, const std::string& reason) const;
  /// Widens bounds of output 0 to those of one sum with the preceding ones; keeps that sum for later nodes.
  void join_sums(const Node& node, std::span<const Evaluated<Bounded>* const> inputs, Derived& output,
                 const ErrorModel& model, ThreadPool& threads);
  /// For a node whose output was not recorded: input 2 may differ by the error of quantizing it.
  void widen_bias(NodeId id, Evaluated<Bounded>& bias) const;
  void keep(const Node& node, std::vector<Derived>& outputs, bool varies, ThreadPool& threads);

  const Graph* graph_;
  const RecordedValues* recorded_;
  ErrorModel model_;
  std::vector<NodeId> nodes_;
  std::vector<std::optional<Derived>> kept_;  // unrecorded values that later nodes need
  std::vector<int> uses_;                     // number of these nodes
  std::vector<bool> continued_;               // unrecorded sums that a later node continues
  OutputMemory<Bounded> memory_;
  bool quantized_biases_ = false;
  bool flushed_results_ = false;
};

}  // namespace driftscope
