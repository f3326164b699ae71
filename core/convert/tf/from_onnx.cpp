#include "core/convert/tf/from_onnx.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/convert/tf/branches.hpp"
#include "core/convert/tf/half.hpp"
#include "core/convert/tf/lowering.hpp"
#include "core/eval/infer_shapes.hpp"
#include "core/lowering/fold_constants.hpp"
#include "core/ops/shared/shape_rules.hpp"

namespace driftscope::tf {
namespace {

using convert::ConvertOptions;

bool all_constant(const Graph& graph, const OnnxNode& node) {
  return std::all_of(node.outputs.begin(), node.outputs.end(),
                     [&](ValueId id) { return id == no_value || graph.values[id].constant.has_value(); });
}

// By node: whether a value that is asked for depends on it and it is not known already.
std::vector<bool> needed_nodes(const Graph& graph, const std::vector<ValueId>& asked) {
  std::vector<bool> read(graph.values.size(), false);
  for (const ValueId id : asked) read[id] = true;
  std::vector<bool> needed(graph.nodes.size(), false);
  for (std::size_t n = graph.nodes.size(); n-- > 0;) {
    const OnnxNode& node = graph.nodes[n];
    if (all_constant(graph, node)) continue;
    needed[n] = std::any_of(node.outputs.begin(), node.outputs.end(),
                            [&](ValueId id) { return id != no_value && read[id]; });
    if (!needed[n]) continue;
    for (const ValueId id : node.reads())
      if (id != no_value) read[id] = true;
  }
  return needed;
}

// By value: whether the operators that read it, directly or behind others that take any order, prefer the
// channels last. The first reader decides.
std::vector<bool> wants_channels_last(const Graph& graph, const std::vector<bool>& needed) {
  std::vector<bool> wants(graph.values.size(), false);
  for (std::size_t n = graph.nodes.size(); n-- > 0;) {
    if (!needed[n]) continue;
    const OnnxNode& node = graph.nodes[n];
    const TfOperator* const op = tf_operators().find(node);
    if (op == nullptr) continue;
    const bool as_output =
        op->prefers == Prefers::any && std::any_of(node.outputs.begin(), node.outputs.end(),
                                                   [&](ValueId id) { return id != no_value && wants[id]; });
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (node.inputs[i] != no_value)
        wants[node.inputs[i]] = as_output || (op->prefers == Prefers::channels_last && i == 0);
  }
  return wants;
}

Status lower_node(Lowering& lowering, const OnnxNode& node) {
  const TfOperator* const op = tf_operators().find(node);
  const Dialect& dialect = lowering.dialect();
  if (!node.opaque.empty()) return unsupported(node.opaque);
  if (node.op_type == "If" && node.domain.empty())
    return unsupported(fmt::format(
        "its condition is only known when the model runs, and both branches cannot be computed: {}",
        why_both_cannot_run(lowering.graph(), node)));
  if (op == nullptr)
    return unsupported(fmt::format("{} cannot express {}", dialect.name,
                                   node.domain.empty() ? node.op_type : node.domain + "." + node.op_type));
  for (const ValueId id : node.outputs) {
    if (id == no_value) continue;
    const Value& value = lowering.graph().values[id];
    const auto shape = value.static_shape();
    if (!shape)
      return unsupported(
          fmt::format("the shape of {} is only known when the model runs, and {} needs it while "
                      "converting",
                      value.name, dialect.name));
    if (shape->size() > dialect.max_rank)
      return unsupported(fmt::format("{} has {} axes, {} at most {}", value.name, shape->size(), dialect.name,
                                     dialect.max_rank));
    DRIFTSCOPE_TRY(const DType type, runtime_type(dialect, value.dtype));
    (void)type;
  }
  lowering.begin(node);
  DRIFTSCOPE_CHECK(op->lower(lowering, node));
  return lowering.status();
}

class Conversion {
 public:
  Conversion(const Graph& graph, const ConvertOptions& options, const Dialect& dialect)
      : graph_(graph), options_(options), dialect_(dialect) {}

  Result<Lowered> run() {
    find_captured();
    std::vector<ValueId> asked = graph_.outputs;
    asked.insert(asked.end(), captured_.begin(), captured_.end());
    const std::vector<bool> needed = needed_nodes(graph_, asked);
    Lowering lowering(graph_, dialect_, wants_channels_last(graph_, needed));
    DRIFTSCOPE_CHECK(check_inputs());
    std::vector<ValueId> made;
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (!needed[n]) continue;
      const Status status = lower_node(lowering, graph_.nodes[n]);
      if (!status.ok()) return in_context(status.error(), node_label(graph_.nodes[n]));
      made.insert(made.end(), graph_.nodes[n].outputs.begin(), graph_.nodes[n].outputs.end());
    }
    return finished(lowering, made);
  }

 private:
  void find_captured() {
    for (const std::string& name : options_.captured) {
      const auto id = graph_.find_value(name);
      if (!id)
        without_[name] = "the graph has no such value";
      else if (graph_.values[*id].constant)
        without_[name] = "it does not depend on the inputs: it was computed while converting";
      else
        captured_.push_back(*id);
    }
  }

  Status check_inputs() const {
    for (const ValueId id : graph_.inputs) {
      const Value& value = graph_.values[id];
      if (!value.static_shape())
        return bad_input(fmt::format("input {}: its shape must be known, got {}", value.name,
                                     value.shape ? shape_text(*value.shape) : "none"));
      const auto type = runtime_type(dialect_, value.dtype);
      if (!type.ok()) return in_context(type.error(), "input " + value.name);
    }
    return {};
  }

  Result<Lowered> finished(Lowering& lowering, const std::vector<ValueId>& made) {
    std::map<ValueId, convert::PlacedValue> placed;
    for (const ValueId id : graph_.inputs) {
      DRIFTSCOPE_TRY(placed[id], lowering.place(id));
    }
    for (const ValueId id : made) {
      if (id == no_value) continue;
      DRIFTSCOPE_TRY(placed[id], lowering.place(id));
    }
    std::vector<std::string> outputs;
    for (const ValueId id : graph_.outputs) {
      if (!placed.contains(id)) {
        DRIFTSCOPE_TRY(placed[id], lowering.place_copy(id));
      }
      outputs.push_back(placed[id].name);
    }
    for (const ValueId id : captured_) outputs.push_back(placed.at(id).name);
    std::vector<std::string> inputs;
    for (const ValueId id : graph_.inputs) inputs.push_back(lowering.input_name(id));
    Lowered lowered = lowering.take();
    lowered.graph.inputs = std::move(inputs);
    lowered.graph.outputs = std::move(outputs);
    for (auto& [id, place] : placed) {
      if (place.dtype != graph_.values[id].dtype)
        lowered.facts[fmt::format("{}_as", dtype_name(graph_.values[id].dtype))] = dtype_name(place.dtype);
      lowered.values[graph_.values[id].name] = std::move(place);
    }
    lowered.without = std::move(without_);
    return lowered;
  }

  const Graph& graph_;
  const ConvertOptions& options_;
  const Dialect& dialect_;
  std::vector<ValueId> captured_;
  std::map<std::string, std::string, std::less<>> without_;
};

bool all_shapes_known(const Graph& graph) {
  return std::all_of(graph.values.begin(), graph.values.end(), [](const Value& value) {
    return value.constant.has_value() || value.static_shape().has_value();
  });
}

}  // namespace

Result<Lowered> from_onnx(const Graph& graph, const ConvertOptions& options, const Dialect& dialect) {
  ThreadPool threads(1);
  DRIFTSCOPE_TRY(Graph believed, with_declared_shapes(graph));
  DRIFTSCOPE_TRY(FlatGraph flat, without_branches(std::move(believed)));
  Graph folded = std::move(flat.graph);
  if (!all_shapes_known(folded)) {  // those that depended on what has been folded
    DRIFTSCOPE_TRY(folded, infer_shapes(std::move(folded)));
    folded = lowering::fold_constants(std::move(folded), threads);
  }
  for (Value& value : folded.values)
    if (value.constant) {
      value.dtype = value.constant->dtype();
      value.shape = symbolic_shape(value.constant->shape());
    }
  const bool half = has_float16(folded);
  if (half) {
    DRIFTSCOPE_TRY(folded, with_float32(std::move(folded)));
  }
  auto made = Conversion(folded, options, dialect).run();
  if (made.ok() && half) made->facts["float16_as"] = "float32, rounded to float16 after each operator";
  if (made.ok() && !flat.both.empty())
    made->facts["both_branches"] = fmt::format("{}", fmt::join(flat.both, ", "));
  return made;
}

}  // namespace driftscope::tf
