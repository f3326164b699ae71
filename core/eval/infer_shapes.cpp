// Compiled for size on the web (cmake/core.cmake).
#include "core/eval/infer_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/eval/evaluate.hpp"
#include "core/graph/legacy.hpp"

namespace driftscope {
namespace {

// Constants of at most this many elements are computed while shapes are inferred: the shapes and
// indices that other shapes depend on, never weights.
constexpr std::int64_t max_folded_elements = 4096;

// Nested subgraphs are inferred repeatedly, each until its types no longer change;
// beyond this many in one model their types stay open until they run.
constexpr int max_subgraph_inferences = 20'000;

// Whether both can be of one tensor.
bool agree(const SymbolicShape& declared, const SymbolicShape& made) {
  return std::ranges::equal(declared, made, [](const Dimension& a, const Dimension& b) {
    return !a.known() || !b.known() || a.size == b.size;
  });
}

// What the file declares and what follows from the inputs: a known type or size replaces an unknown one. A
// declared shape that contradicts the operator's is wrong, as runtimes see it: they warn.
Status merge(const Node& node, Value& value, const TensorType& inferred, std::vector<ModelNote>& notes) {
  if (inferred.dtype != DType::undefined) {
    if (value.dtype != DType::undefined && value.dtype != inferred.dtype)
      return bad_input(fmt::format("output {}: the model declares {}, the operator makes {}", value.name,
                                   dtype_name(value.dtype), dtype_name(inferred.dtype)));
    value.dtype = inferred.dtype;
  }
  if (!inferred.shape) return {};
  if (!value.shape) {
    value.shape = inferred.shape;
    return {};
  }
  if (!agree(*value.shape, *inferred.shape)) {
    add_note(notes, {.kind = NoteKind::declared_shape,
                     .node = node.name,
                     .value = value.name,
                     .declared = shape_text(*value.shape),
                     .is = shape_text(*inferred.shape)});
    value.shape = inferred.shape;
    return {};
  }
  for (std::size_t i = 0; i < value.shape->size(); ++i) {
    Dimension& declared = (*value.shape)[i];
    const Dimension& made = (*inferred.shape)[i];
    if (made.known() || (!declared.known() && !made.symbol.empty())) declared = made;
  }
  return {};
}

// Whether the node's outputs are worth computing now: all inputs known, all outputs small.
bool foldable(const Node& node, std::span<const Tensor* const> constants,
              std::span<const TensorType> outputs) {
  // A loop may take long: it is evaluated only in a run.
  if (!node.subgraphs.empty() && node.op_type != "If") return false;
  const std::vector<ValueId> reads = node.reads();
  for (std::size_t i = 0; i < reads.size(); ++i)
    if (reads[i] != no_value && constants[i] == nullptr) return false;
  for (const TensorType& output : outputs) {
    if (output.dtype == DType::undefined || !output.shape) return false;
    std::int64_t elements = 1;
    for (const Dimension& dimension : *output.shape) {
      if (!dimension.known() || dimension.size > max_folded_elements) return false;
      elements *= std::max<std::int64_t>(dimension.size, 1);
      if (elements > max_folded_elements) return false;
    }
  }
  return true;
}

// Before opset 7 the second input of an elementwise operator could lie at any axis of the first.
Status align_second(const Node& node, std::vector<TensorType>& types) {
  if (node.attribute(broadcast_axis) == nullptr || types.size() < 2 || !types[1].shape) return {};
  if (!types[0].shape) {
    types[1].shape.reset();
    return {};
  }
  auto aligned = legacy_aligned(node, *types[0].shape, *std::move(types[1].shape));
  if (!aligned.ok()) return in_context(std::move(aligned).error(), node_label(node));
  types[1].shape = *std::move(aligned);
  return {};
}

// By the shape rule of the node's operator.
Result<std::vector<TensorType>> apply_rule(const InferContext& context) {
  const Node& node = context.node();
  DRIFTSCOPE_TRY(const Operator* const op, find_operator(node));
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i] != no_value && context.input(i).dtype == DType::string)
      return unsupported(
          fmt::format("{}: input {} is a string tensor; strings are not supported", node_label(node), i));
  auto inferred = op->infer(context);
  if (!inferred.ok()) return in_context(std::move(inferred).error(), node_label(node));
  std::vector<TensorType> outputs = *std::move(inferred);
  // A rule may describe optional outputs that this node does not have.
  if (outputs.size() < node.outputs.size())
    return internal_error(fmt::format("{}: the shape rule described {} of {} outputs", node_label(node),
                                      outputs.size(), node.outputs.size()));
  outputs.resize(node.outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].shape && outputs[i].shape->size() > max_rank)
      return limit_error(fmt::format("{}: output {} has {} axes, more than {} are not supported",
                                     node_label(node), i, outputs[i].shape->size(), max_rank));
  return outputs;
}

class Inference {
 public:
  /// `subgraph_inferences` counts those of the whole model, `notes` are the model's.
  Inference(Graph graph, Declared declared, int& subgraph_inferences, std::vector<ModelNote>& notes)
      : graph_(std::move(graph)),
        declared_(declared),
        folded_(graph_.values.size()),
        partial_(graph_.values.size()),
        subgraph_inferences_(subgraph_inferences),
        notes_(notes) {}

  /// For a subgraph: the known properties of a formal input or a captured value.
  void set(ValueId id, const TensorType& type, const Tensor* constant) {
    Value& value = graph_.values[id];
    if (type.dtype != DType::undefined) value.dtype = type.dtype;
    value.shape = type.shape;
    if (constant != nullptr) folded_[id] = *constant;
  }

  Result<Graph> run() {
    if (declared_ == Declared::forgotten)
      for (Value& value : graph_.values) {
        if (value.producer == no_node) continue;
        value.dtype = DType::undefined;
        value.shape.reset();
      }
    for (Value& value : graph_.values) {
      if (!value.constant) continue;
      value.dtype = value.constant->dtype();
      SymbolicShape shape;
      for (const std::int64_t size : value.constant->shape()) shape.push_back({size, ""});
      value.shape = std::move(shape);
    }
    for (Node& node : graph_.nodes) DRIFTSCOPE_CHECK(infer(node));
    return std::move(graph_);
  }

 private:
  class Inside;

  const Tensor* known(ValueId id) const {
    if (id == no_value) return nullptr;
    if (graph_.values[id].constant) return &*graph_.values[id].constant;
    return folded_[id] ? &*folded_[id] : nullptr;
  }

  Status infer(Node& node);

  // Nothing is known of its outputs but what the file declares.
  void make_opaque(Node& node, Error why) {
    node.opaque = std::move(why.message);
    add_note(notes_, {.kind = NoteKind::opaque_operator,
                      .node = node.name,
                      .value = operator_text(node),
                      .declared = "",
                      .is = node.opaque});
  }

  Status infer_types(Node& node, SubgraphTypes* subgraphs) {
    std::vector<TensorType> types;
    std::vector<const Tensor*> constants;
    std::vector<const PartialVector*> partial;
    for (const ValueId id : node.reads()) {
      types.push_back(id == no_value ? TensorType{}
                                     : TensorType{graph_.values[id].dtype, graph_.values[id].shape});
      constants.push_back(known(id));
      partial.push_back(id == no_value ? nullptr : partial_value(id));
    }
    DRIFTSCOPE_CHECK(align_second(node, types));
    InferContext context(node, types, constants, subgraphs);
    context.set_partial(partial);
    const auto outcome = apply_rule(context);
    if (!outcome.ok() && outcome.error().kind == ErrorKind::unsupported) {
      make_opaque(node, outcome.error());
      return {};
    }
    if (!outcome.ok()) return outcome.error();
    const std::vector<TensorType>& outputs = *outcome;
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != no_value)
        if (auto status = merge(node, graph_.values[node.outputs[i]], outputs[i], notes_); !status.ok())
          return in_context(std::move(status).error(), node_label(node));
    if (foldable(node, constants, outputs)) return fold(node, constants);
    DRIFTSCOPE_TRY(const Operator* const op, find_operator(node));
    if (op->dimensions != nullptr) return keep_dimensions(node, *op, context);
    const auto moved = move_partial(node, partial, constants, threads_);
    for (std::size_t i = 0; i < moved.size(); ++i)
      if (node.outputs[i] != no_value) DRIFTSCOPE_CHECK(keep(node.outputs[i], moved[i]));
    return {};
  }

  // The known elements of a small integer vector.
  const PartialVector* partial_value(ValueId id) {
    if (!partial_[id])
      if (const Tensor* constant = known(id)) partial_[id] = partial_of(*constant);
    return partial_[id] ? &*partial_[id] : nullptr;
  }

  // Stores it as a constant once every element is a number.
  Status keep(ValueId id, const PartialVector& vector) {
    partial_[id] = vector;
    std::vector<std::int64_t> numbers;
    for (const PartialElement& element : vector.elements) {
      if (element.size) return {};
      numbers.push_back(element.number);
    }
    if (graph_.values[id].dtype != DType::int64) return {};
    DRIFTSCOPE_TRY(folded_[id], Tensor::from_values<std::int64_t>(vector.shape, numbers));
    return {};
  }

  // Shape and similar operators: the result follows from the type, even if the value is unknown.
  Status keep_dimensions(const Node& node, const Operator& op, const InferContext& context) {
    if (node.outputs[0] == no_value) return {};
    DRIFTSCOPE_TRY(const auto dimensions, op.dimensions(context));
    if (!dimensions) return {};
    PartialVector vector;
    // Shape makes a vector, Size a scalar.
    const auto& shape = graph_.values[node.outputs[0]].shape;
    if (!shape || !shape->empty()) vector.shape.push_back(static_cast<std::int64_t>(dimensions->size()));
    for (const Dimension& dimension : *dimensions)
      vector.elements.push_back(dimension.known() ? PartialElement{dimension.size, {}}
                                                  : PartialElement{0, dimension});
    return keep(node.outputs[0], vector);
  }

  Status fold(const Node& node, std::span<const Tensor* const> constants) {
    auto results = evaluate_strict(node, constants, threads_);
    if (!results.ok() && results.error().kind == ErrorKind::unsupported) return {};  // inside a branch
    if (!results.ok()) return results.error();
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != no_value) folded_[node.outputs[i]] = std::move((*results)[i]);
    return {};
  }

  Graph graph_;
  Declared declared_;
  std::vector<std::optional<Tensor>> folded_;
  std::vector<std::optional<PartialVector>> partial_;
  int& subgraph_inferences_;
  std::vector<ModelNote>& notes_;
  ThreadPool threads_{1};
};

// The subgraphs of one node of the enclosing graph.
class Inference::Inside final : public SubgraphTypes {
 public:
  Inside(const Inference& around, const Node& node)
      : around_(around), node_(node), inferred_(node.subgraphs.size()) {}

  Result<std::vector<TensorType>> infer(std::string_view attribute,
                                        std::span<const TensorType> inputs) override {
    const auto found = std::find_if(node_.subgraphs.begin(), node_.subgraphs.end(),
                                    [&](const Subgraph& s) { return s.attribute == attribute; });
    if (found == node_.subgraphs.end())
      return bad_input(fmt::format("attribute {}: a graph is required but absent", attribute));
    if (++around_.subgraph_inferences_ > max_subgraph_inferences)
      return limit_error("too many nested graphs to infer their types");
    const Graph& graph = *found->graph;
    if (graph.inputs.size() != inputs.size())
      return bad_input(fmt::format("{}: the graph takes {} inputs, the node gives {}", attribute,
                                   graph.inputs.size(), inputs.size()));
    Inference inside(graph, around_.declared_, around_.subgraph_inferences_, around_.notes_);
    for (std::size_t i = 0; i < inputs.size(); ++i) inside.set(graph.inputs[i], inputs[i], nullptr);
    for (std::size_t i = 0; i < graph.captured.size(); ++i) {
      const ValueId outer = node_.captured[found->captured[i]];
      const Value& value = around_.graph_.values[outer];
      inside.set(graph.captured[i], {value.dtype, value.shape}, around_.known(outer));
    }
    auto result = inside.run();
    if (!result.ok()) return in_context(std::move(result).error(), std::string(attribute));
    const auto place = static_cast<std::size_t>(found - node_.subgraphs.begin());
    inferred_[place] = std::make_shared<const Graph>(*std::move(result));
    std::vector<TensorType> outputs;
    for (const ValueId id : inferred_[place]->outputs)
      outputs.push_back({inferred_[place]->values[id].dtype, inferred_[place]->values[id].shape});
    return outputs;
  }

  /// The subgraphs as last inferred; null for one that never was.
  [[nodiscard]] std::shared_ptr<const Graph> inferred(std::size_t i) const { return inferred_[i]; }

 private:
  const Inference& around_;
  const Node& node_;
  std::vector<std::shared_ptr<const Graph>> inferred_;
};

Status Inference::infer(Node& node) {
  if (node.subgraphs.empty()) return infer_types(node, nullptr);
  Inside inside(*this, node);
  DRIFTSCOPE_CHECK(infer_types(node, &inside));
  for (std::size_t i = 0; i < node.subgraphs.size(); ++i)
    if (auto graph = inside.inferred(i)) node.subgraphs[i].graph = std::move(graph);
  return {};
}

}  // namespace

Result<std::vector<TensorType>> infer_node(const Node& node, std::span<const TensorType> inputs,
                                           std::span<const Tensor* const> constants) {
  std::vector<TensorType> types(inputs.begin(), inputs.end());
  DRIFTSCOPE_CHECK(align_second(node, types));
  return apply_rule(InferContext(node, types, constants));
}

Result<Graph> infer_shapes(Graph graph, Declared declared) {
  int subgraph_inferences = 0;
  std::vector<ModelNote> notes = std::move(graph.notes);
  DRIFTSCOPE_TRY(Graph inferred, Inference(std::move(graph), declared, subgraph_inferences, notes).run());
  inferred.notes = std::move(notes);
  return inferred;
}

}  // namespace driftscope
