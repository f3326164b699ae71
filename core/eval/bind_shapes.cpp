// Binds the symbols in a graph's shapes to the sizes of its inputs in one run.
// Compiled for size on the web (cmake/core.cmake).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "core/eval/infer_shapes.hpp"

namespace driftscope {
namespace {

bool contradict(const Value& declared, const Value& made) {
  if (made.producer == no_node || !declared.shape || !made.shape) return false;
  return !std::ranges::equal(*declared.shape, *made.shape, [](const Dimension& a, const Dimension& b) {
    return !a.known() || !b.known() || a.size == b.size;
  });
}

}  // namespace

Result<Graph> bind_shapes(Graph graph, std::span<const Shape> input_shapes) {
  if (input_shapes.size() != graph.inputs.size())
    return bad_input(
        fmt::format("the graph has {} inputs, got {} shapes", graph.inputs.size(), input_shapes.size()));
  std::map<std::string, std::int64_t> symbols;
  std::set<std::string> ambiguous;  // of different sizes
  for (std::size_t i = 0; i < input_shapes.size(); ++i) {
    Value& value = graph.values[graph.inputs[i]];
    const Shape& given = input_shapes[i];
    const auto mismatch = [&](const std::string& why) {
      const std::string expected = value.shape ? shape_text(*value.shape) : "unknown";
      return bad_input(
          fmt::format("input {}: expected shape {}, got {}{}", value.name, expected, shape_text(given), why));
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
      if (added || entry->second == given[axis]) continue;
      // Runtimes do not compare them: whether the sizes fit shows in the nodes that read them.
      add_note(graph.notes,
               {.kind = NoteKind::unequal_symbol,
                .value = value.name,
                .declared = declared.symbol,
                .is = fmt::format("{} in one place, {} in {}", entry->second, given[axis], value.name)});
      ambiguous.insert(declared.symbol);
    }
    value.shape = std::move(bound);
  }
  for (Value& value : graph.values) {
    if (!value.shape) continue;
    for (Dimension& dimension : *value.shape) {
      if (ambiguous.contains(dimension.symbol)) dimension = {};
      const auto entry = symbols.find(dimension.symbol);
      if (!dimension.known() && entry != symbols.end()) dimension = {entry->second, ""};
    }
  }
  const std::vector<Value> declared = graph.values;
  std::string unequal;  // may be why nodes do not fit
  for (const ModelNote& note : graph.notes)
    if (note.kind == NoteKind::unequal_symbol) unequal = "; " + note_text(note);
  auto inferred = infer_shapes(std::move(graph), Declared::forgotten);
  if (!inferred.ok()) return Error{inferred.error().kind, inferred.error().message + unequal};
  Graph bound = *std::move(inferred);
  for (std::size_t id = 0; id < declared.size(); ++id) {
    const DType made = bound.values[id].dtype;
    if (made != DType::undefined && declared[id].dtype != DType::undefined && made != declared[id].dtype)
      return bad_input(fmt::format("output {}: the model declares {}, the operator makes {}",
                                   declared[id].name, dtype_name(declared[id].dtype), dtype_name(made)));
    if (contradict(declared[id], bound.values[id]))
      add_note(bound.notes, {.kind = NoteKind::declared_shape,
                             .node = bound.nodes[bound.values[id].producer].name,
                             .value = declared[id].name,
                             .declared = shape_text(*declared[id].shape),
                             .is = shape_text(*bound.values[id].shape)});
    Value& value = bound.values[id];
    if (value.producer == no_node || (value.static_shape() && value.dtype != DType::undefined)) continue;
    value.declared_dtype = declared[id].dtype;
    value.declared_shape = declared[id].shape;
  }
  return bound;
}

Result<Graph> with_declared_shapes(Graph graph) {
  bool changed = false;
  for (Value& value : graph.values) {
    if (value.dtype == DType::undefined && value.declared_dtype != DType::undefined) {
      value.dtype = value.declared_dtype;
      changed = true;
    }
    if (!value.static_shape() && value.declared_shape) {
      value.shape = value.declared_shape;
      changed = true;
    }
  }
  if (!changed) return graph;
  return infer_shapes(std::move(graph));
}

}  // namespace driftscope
