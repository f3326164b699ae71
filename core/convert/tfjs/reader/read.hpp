// Reads a TensorFlow.js graph model: model.json with a GraphDef and a weights manifest, and the files of
// weights that it names. Types that TensorFlow.js does not have are those that it takes instead: int32 for
// int64, float32 for half and double. Clients: callers that read models. Everything in the text is checked
// before it is used; it reads no control flow.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/convert/tf/tf_graph.hpp"

namespace driftscope::convert::tfjs {

/// Loads a whole file beside model.json. Names that leave its folder have been rejected.
using WeightFiles = std::function<Result<std::vector<std::byte>>(const std::string& name)>;

/// Whether these bytes are the model.json of a TensorFlow.js model.
[[nodiscard]] bool is_tfjs_model(std::string_view text);

[[nodiscard]] Result<tf::TfGraph> read_graph_model(std::string_view model_json, const WeightFiles& files);

}  // namespace driftscope::convert::tfjs
