// Sizes that the user gives for inputs whose model leaves them open: "dim:time=16000" for a symbol of the
// model, "shape:NAME=1x3x?x320" for an input. They stand among the specs of --input, so that whatever keeps
// those keeps the sizes (baselines, benches, the window). Clients: --dim and --input-shape, found sizes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/graph/graph.hpp"

namespace driftscope {

inline constexpr std::string_view dim_prefix = "dim:";
inline constexpr std::string_view shape_prefix = "shape:";

/// Whether a spec gives a size instead of naming a source.
[[nodiscard]] bool is_size_spec(std::string_view spec);

/// The graph with these sizes in the shapes of its inputs; what is "?" or not given stays open. Specs that
/// name sources are left alone. Errors: names that the model does not have, sizes that it fixes otherwise,
/// one symbol with two sizes.
[[nodiscard]] Result<Graph> with_input_sizes(Graph graph, std::span<const std::string> specs);

/// "1x3x?x320", "scalar"; "?" is an unknown size.
[[nodiscard]] Result<SymbolicShape> parse_input_shape(std::string_view text);

/// Whether two dimensions with this symbol have the same size: "?" and "" name nothing.
[[nodiscard]] bool names_a_size(const std::string& symbol);

/// "x (float32 1x3xheightxwidth)", or "x (of an unknown type and shape)".
[[nodiscard]] std::string typed_input_text(const Value& input);

}  // namespace driftscope
