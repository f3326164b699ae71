// Where a model departs from the ONNX specification in ways that change nothing here: what onnx.checker
// refuses and runtimes do not mind. Client: `doctor MODEL`; what does matter is noted by build_graph and
// infer_shapes.
#pragma once

#include <vector>

#include "core/model/model.hpp"

namespace driftscope {

/// Of the model's own graph, in the order of the file.
[[nodiscard]] std::vector<ModelNote> strict_notes(const Model& model);

}  // namespace driftscope
