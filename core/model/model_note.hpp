// What is odd about a model and lets it run all the same: departures from the ONNX specification that
// runtimes accept, and what was read with a liberty. Made by the reader, build_graph and infer_shapes, shown
// by every command that runs or judges a model, one by one by `doctor MODEL`. Nothing is decided by a note.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace driftscope {

enum class NoteKind : std::uint8_t {
  declared_shape,     ///< the file declares another shape than the operator makes
  unnamed_dimension,  ///< a name such as "?" for sizes that have nothing to do with each other
  negative_dimension,
  unequal_symbol,       ///< one name for sizes that differ
  overridable,          ///< an initializer that is also an input: read as a constant
  missing_opset,        ///< the opset of a domain that nodes use
  contradictory_opset,  ///< one domain with two opsets
  given_shape,          ///< [1] given for a scalar input, or a scalar for [1]
  output_type,          ///< an output that is no tensor of a known type: not compared
  // What changes nothing and only strict_notes looks for.
  unsorted_nodes,
  unlisted_initializer,
  unnamed_graph,
  untyped_value,
  unused_opset,
  // Of nodes.
  opaque_operator,  ///< no reference, so no verdict
};

struct ModelNote {
  NoteKind kind = NoteKind::declared_shape;
  std::string node = {};      ///< empty: of the graph or the model
  std::string value = {};     ///< the value, dimension name or domain; of an operator its name
  std::string declared = {};  ///< what the file says
  std::string is = {};        ///< what it is, or how it was taken
  bool operator==(const ModelNote&) const = default;
};

/// Of a kind: its name in documents, whether the ONNX specification forbids it, and what runtimes do.
struct NoteFacts {
  std::string_view name;      ///< "declared_shape"
  bool deviation = true;      ///< from the specification
  std::string_view runtimes;  ///< "ONNX Runtime warns and takes the operator's"
};
[[nodiscard]] NoteFacts facts_of(NoteKind kind);

/// One note as a sentence without a full stop.
[[nodiscard]] std::string note_text(const ModelNote& note);

/// All notes, a line for each kind: how many, and the first as an example.
[[nodiscard]] std::vector<std::string> note_lines(std::span<const ModelNote> notes);

/// Adds it unless the same is there already.
void add_note(std::vector<ModelNote>& notes, ModelNote note);

}  // namespace driftscope
