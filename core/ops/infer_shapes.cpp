#include "core/ops/infer_shapes.hpp"

#include <fmt/format.h>

#include <map>

#include "core/ops/evaluate.hpp"

namespace driftscope {
namespace {

// Constants of at most this many elements are computed while shapes are inferred: the shapes and
// indices that other shapes depend on, never weights.
constexpr std::int64_t max_folded_elements = 4096;

std::string optional_shape_text(const std::optional<SymbolicShape>& shape) {
  return shape ? shape_text(*shape) : "unknown";
}

// What the file declares and what follows from the inputs: known wins over unknown.
Status merge(Value& value, const TensorType& inferred) {
  if (inferred.dtype != DType::undefined) {
    if (value.dtype != DType::undefined && value.dtype != inferred.dtype)
      return bad_input(fmt::format("output {}: the model declares {}, the operator makes {}",
                                   value.name, dtype_name(value.dtype),
                                   dtype_name(inferred.dtype)));
    value.dtype = inferred.dtype;
  }
  if (!inferred.shape) return {};
  if (!value.shape) {
    value.shape = inferred.shape;
    return {};
  }
  const auto contradiction = [&] {
    return bad_input(fmt::format("output {}: the model declares shape {}, the operator makes {}",
                                 value.name, optional_shape_text(value.shape),
                                 optional_shape_text(inferred.shape)));
  };
  if (value.shape->size() != inferred.shape->size()) return contradiction();
  for (std::size_t i = 0; i < value.shape->size(); ++i) {
    const Dimension& declared = (*value.shape)[i];
    const Dimension& made = (*inferred.shape)[i];
    if (declared.known() && made.known() && declared.size != made.size) return contradiction();
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
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i] != no_value && constants[i] == nullptr) return false;
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

class Inference {
 public:
  explicit Inference(Graph graph) : graph_(std::move(graph)), folded_(graph_.values.size()) {}

  Result<Graph> run() {
    for (Value& value : graph_.values) {
      if (!value.constant) continue;
      value.dtype = value.constant->dtype();
      SymbolicShape shape;
      for (const std::int64_t size : value.constant->shape()) shape.push_back({size, ""});
      value.shape = std::move(shape);
    }
    for (const Node& node : graph_.nodes) DRIFTSCOPE_CHECK(infer(node));
    return std::move(graph_);
  }

 private:
  const Tensor* known(ValueId id) const {
    if (id == no_value) return nullptr;
    if (graph_.values[id].constant) return &*graph_.values[id].constant;
    return folded_[id] ? &*folded_[id] : nullptr;
  }

  Status infer(const Node& node) {
    std::vector<TensorType> types;
    std::vector<const Tensor*> constants;
    for (const ValueId id : node.inputs) {
      types.push_back(id == no_value ? TensorType{}
                                     : TensorType{graph_.values[id].dtype, graph_.values[id].shape});
      constants.push_back(known(id));
    }
    DRIFTSCOPE_TRY(const std::vector<TensorType> outputs, infer_node(node, types, constants));
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != no_value)
        if (auto status = merge(graph_.values[node.outputs[i]], outputs[i]); !status.ok())
          return in_context(std::move(status).error(), node_label(node));
    if (foldable(node, constants, outputs)) return fold(node, constants);
    return fold_dimensions(node, types, constants);
  }

  // Shape and the like: known as soon as the type is, whether or not the value is.
  Status fold_dimensions(const Node& node, std::span<const TensorType> types,
                         std::span<const Tensor* const> constants) {
    DRIFTSCOPE_TRY(const Operator* const op, find_operator(node));
    if (op->dimensions == nullptr || node.outputs[0] == no_value) return {};
    DRIFTSCOPE_TRY(const auto dimensions, op->dimensions(InferContext(node, types, constants)));
    if (!dimensions) return {};
    std::vector<std::int64_t> sizes;
    for (const Dimension& dimension : *dimensions) {
      if (!dimension.known()) return {};
      sizes.push_back(dimension.size);
    }
    // Shape makes a vector, Size a scalar.
    const auto& shape = graph_.values[node.outputs[0]].shape;
    Shape wanted;
    if (!shape || !shape->empty()) wanted.push_back(static_cast<std::int64_t>(sizes.size()));
    DRIFTSCOPE_TRY(folded_[node.outputs[0]], Tensor::from_values<std::int64_t>(wanted, sizes));
    return {};
  }

  Status fold(const Node& node, std::span<const Tensor* const> constants) {
    DRIFTSCOPE_TRY(std::vector<Tensor> results, evaluate_strict(node, constants, threads_));
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != no_value) folded_[node.outputs[i]] = std::move(results[i]);
    return {};
  }

  Graph graph_;
  std::vector<std::optional<Tensor>> folded_;
  ThreadPool threads_{1};
};

}  // namespace

Result<std::vector<TensorType>> infer_node(const Node& node, std::span<const TensorType> inputs,
                                           std::span<const Tensor* const> constants) {
  DRIFTSCOPE_TRY(const Operator* const op, find_operator(node));
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i] != no_value && inputs[i].dtype == DType::string)
      return unsupported(fmt::format("{}: input {} is a string tensor; strings are not supported",
                                     node_label(node), i));
  auto inferred = op->infer(InferContext(node, inputs, constants));
  if (!inferred.ok()) return in_context(std::move(inferred).error(), node_label(node));
  std::vector<TensorType> outputs = *std::move(inferred);
  // A rule may describe optional outputs that this node does not have.
  if (outputs.size() < node.outputs.size())
    return internal_error(fmt::format("{}: the shape rule described {} of {} outputs",
                                      node_label(node), outputs.size(), node.outputs.size()));
  outputs.resize(node.outputs.size());
  return outputs;
}

Result<Graph> infer_shapes(Graph graph) { return Inference(std::move(graph)).run(); }

Result<Graph> bind_shapes(Graph graph, std::span<const Shape> input_shapes) {
  if (input_shapes.size() != graph.inputs.size())
    return bad_input(fmt::format("the graph has {} inputs, got {} shapes", graph.inputs.size(),
                                 input_shapes.size()));
  std::map<std::string, std::int64_t> symbols;
  for (std::size_t i = 0; i < input_shapes.size(); ++i) {
    Value& value = graph.values[graph.inputs[i]];
    const Shape& given = input_shapes[i];
    const auto mismatch = [&](const std::string& why) {
      return bad_input(fmt::format("input {}: expected shape {}, got {}{}", value.name,
                                   optional_shape_text(value.shape), shape_text(given), why));
    };
    if (value.shape && value.shape->size() != given.size()) return mismatch("");
    SymbolicShape bound(given.size());
    for (std::size_t axis = 0; axis < given.size(); ++axis) {
      if (given[axis] < 0) return mismatch(" (a negative size)");
      bound[axis].size = given[axis];
      if (!value.shape) continue;
      const Dimension& declared = (*value.shape)[axis];
      if (declared.known() && declared.size != given[axis]) return mismatch("");
      if (declared.known() || declared.symbol.empty()) continue;
      const auto [entry, added] = symbols.emplace(declared.symbol, given[axis]);
      if (!added && entry->second != given[axis])
        return mismatch(fmt::format(" ({} is already {})", declared.symbol, entry->second));
    }
    value.shape = std::move(bound);
  }
  for (Value& value : graph.values) {
    if (!value.shape) continue;
    for (Dimension& dimension : *value.shape) {
      const auto entry = symbols.find(dimension.symbol);
      if (!dimension.known() && entry != symbols.end()) dimension = {entry->second, ""};
    }
  }
  return infer_shapes(std::move(graph));
}

}  // namespace driftscope
