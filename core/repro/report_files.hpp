// The folder of a report: a model of one node, its recorded inputs, what is expected, a page and a script
// on the plain runtime, and the text. Nothing of Driftscope is in it. Clients: the commands repro,
// reduce.
#pragma once

#include "core/repro/runtime.hpp"

namespace driftscope::repro {

/// The picture that the page shows: what it asks its server for tells the outcome.
inline constexpr std::string_view right_picture = "right.svg";
inline constexpr std::string_view wrong_picture = "wrong.svg";
inline constexpr std::string_view failed_picture = "failed.svg";

/// The model, its inputs, what is expected and what was recorded. Errors: a type without a NumPy form; the
/// model is too large to be written.
[[nodiscard]] Result<std::vector<File>> model_files(const Excerpt& one);

/// Those with a page, a script and the text; the model in the runtime's own format as well where it
/// does not read ONNX. Errors: as model_files; none is written for the engine; the model cannot be converted.
[[nodiscard]] Result<std::vector<File>> report_files(const Excerpt& one, const Facts& facts,
                                                     const std::optional<ParameterTable>& table,
                                                     ThreadPool& threads);

/// What the folder discloses of the user's model, one line each.
[[nodiscard]] std::vector<std::string> disclosed(const Excerpt& one, bool anonymous);

/// The node in words, for texts: "Conv, strides [2, 2], auto_pad SAME_UPPER".
[[nodiscard]] std::string node_text(const Node& node);

/// All nodes: "one node: Conv, …"
[[nodiscard]] std::string nodes_text(const Graph& graph);

/// "float32 1x3x8x8"
[[nodiscard]] std::string type_text(const Tensor& tensor);

}  // namespace driftscope::repro
