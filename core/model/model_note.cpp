// Compiled for size on the web (cmake/core.cmake).
#include "core/model/model_note.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"

namespace driftscope {
namespace {

/// "value 'y' of node 'conv'", as far as there are names.
std::string place(const ModelNote& note, std::string_view what) {
  std::string text = fmt::format("{} {}", what, in_quotes(note.value));
  if (!note.node.empty()) text += " of node " + in_quotes(note.node);
  return text;
}

/// How many notes of a kind there are: "3 values have", "1 value has".
std::string counted(NoteKind kind, std::size_t count) {
  const bool one = count == 1;
  const auto phrase = [&](std::string_view single, std::string_view many) {
    return fmt::format("{} {}", count, one ? single : many);
  };
  switch (kind) {
    case NoteKind::declared_shape:
      return phrase("value has another shape than the model declares",
                    "values have other shapes than the model declares");
    case NoteKind::unnamed_dimension:
      return phrase("dimension has a name that stands for any size",
                    "dimensions have names that stand for any size");
    case NoteKind::negative_dimension: return phrase("dimension is negative", "dimensions are negative");
    case NoteKind::unequal_symbol:
      return phrase("dimension name stands for different sizes", "dimension names stand for different sizes");
    case NoteKind::overridable:
      return phrase("initializer is also an input and was read as a constant",
                    "initializers are also inputs and were read as constants");
    case NoteKind::missing_opset:
      return phrase("domain is used without an opset", "domains are used without an opset");
    case NoteKind::contradictory_opset:
      return phrase("domain is imported twice", "domains are imported twice");
    case NoteKind::given_shape:
      return phrase("input was given with another shape", "inputs were given with other shapes");
    case NoteKind::output_type: return phrase("output is not compared", "outputs are not compared");
    case NoteKind::unsorted_nodes:
    case NoteKind::unlisted_initializer:
    case NoteKind::unnamed_graph:
    case NoteKind::untyped_value:
    case NoteKind::unused_opset: return fmt::format("{} × {}", count, facts_of(kind).name);
    case NoteKind::opaque_operator:
      return phrase("node has an operator without a reference here and is not judged",
                    "nodes have operators without a reference here and are not judged");
  }
  return {};
}

}  // namespace

NoteFacts facts_of(NoteKind kind) {
  switch (kind) {
    case NoteKind::declared_shape:
      return {"declared_shape", true, "ONNX Runtime warns and takes what the operator makes"};
    case NoteKind::unnamed_dimension:
      return {"unnamed_dimension", true, "ONNX Runtime does not compare the sizes"};
    case NoteKind::negative_dimension:
      return {"negative_dimension", true, "ONNX Runtime takes it as unknown"};
    case NoteKind::unequal_symbol: return {"unequal_symbol", true, "ONNX Runtime does not compare the sizes"};
    case NoteKind::overridable:
      return {"overridable_initializer", false, "ONNX Runtime warns and lets callers replace it"};
    case NoteKind::missing_opset: return {"missing_opset", true, "ONNX Runtime takes the newest it has"};
    case NoteKind::contradictory_opset: return {"contradictory_opset", true, "ONNX Runtime takes the last"};
    case NoteKind::given_shape: return {"given_shape", false, "ONNX Runtime takes one for the other"};
    case NoteKind::output_type: return {"output_type", false, "ONNX Runtime returns it"};
    case NoteKind::unsorted_nodes: return {"unsorted_nodes", true, "ONNX Runtime sorts them"};
    case NoteKind::unlisted_initializer:
      return {"unlisted_initializer", true, "ONNX Runtime takes it as a constant"};
    case NoteKind::unnamed_graph: return {"unnamed_graph", true, "ONNX Runtime does not ask for one"};
    case NoteKind::untyped_value: return {"untyped_value", true, "ONNX Runtime infers it"};
    case NoteKind::unused_opset: return {"unused_opset", false, "ONNX Runtime ignores it"};
    case NoteKind::opaque_operator: return {"opaque_operator", false, "those that have the operator run it"};
  }
  return {"unknown", false, ""};
}

std::string note_text(const ModelNote& note) {
  switch (note.kind) {
    case NoteKind::declared_shape:
      return fmt::format("{}: the model declares shape {}, the operator makes {}", place(note, "value"),
                         note.declared, note.is);
    case NoteKind::unnamed_dimension:
      return fmt::format("{}: dimension name {} is read as {}", place(note, "value"),
                         in_quotes(note.declared), note.is);
    case NoteKind::negative_dimension:
      return fmt::format("{}: a dimension of {} is read as {}", place(note, "value"), note.declared, note.is);
    case NoteKind::unequal_symbol:
      return fmt::format("dimension name {}: {}", in_quotes(note.declared), note.is);
    case NoteKind::overridable:
      return fmt::format("{} is also an input: {}", place(note, "initializer"), note.is);
    case NoteKind::missing_opset:
      return fmt::format("domain {}: the model does not say which opset it uses, read as opset {}",
                         in_quotes(note.value.empty() ? "ai.onnx" : note.value), note.is);
    case NoteKind::contradictory_opset:
      return fmt::format("domain {} is imported as opset {} and as opset {}, read as the last",
                         in_quotes(note.value.empty() ? "ai.onnx" : note.value), note.declared, note.is);
    case NoteKind::given_shape:
      return fmt::format("{}: shape {} given, taken as {}", place(note, "input"), note.declared, note.is);
    case NoteKind::output_type:
      if (note.declared != note.is)
        return fmt::format("{} ({}): not compared; the tensor that it presents, {}, is",
                           place(note, "output"), note.is, in_quotes(note.declared));
      return fmt::format("{} ({}): not compared", place(note, "output"), note.is);
    case NoteKind::unsorted_nodes:
      return fmt::format("node {} stands before the node that makes its input {}", in_quotes(note.node),
                         in_quotes(note.value));
    case NoteKind::unlisted_initializer:
      return fmt::format("{} is not among the inputs, as IR version {} asks for", place(note, "initializer"),
                         note.declared);
    case NoteKind::unnamed_graph: return "the graph has no name";
    case NoteKind::untyped_value:
      return fmt::format("{}: the model does not say its type", place(note, "output"));
    case NoteKind::unused_opset:
      return fmt::format("domain {} is imported as opset {}, and no node uses it (functions are inlined)",
                         in_quotes(note.value.empty() ? "ai.onnx" : note.value), note.declared);
    case NoteKind::opaque_operator: return note.is;
  }
  return {};
}

std::vector<std::string> note_lines(std::span<const ModelNote> notes) {
  std::vector<std::string> lines;
  std::vector<NoteKind> seen;
  for (const ModelNote& first : notes) {
    if (std::ranges::find(seen, first.kind) != seen.end()) continue;
    seen.push_back(first.kind);
    const auto count = static_cast<std::size_t>(std::ranges::count(notes, first.kind, &ModelNote::kind));
    lines.push_back(fmt::format("{}{}: {}", counted(first.kind, count), count > 1 ? ", the first" : "",
                                note_text(first)));
  }
  return lines;
}

void add_note(std::vector<ModelNote>& notes, ModelNote note) {
  if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
}

}  // namespace driftscope
