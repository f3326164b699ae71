// Models in other formats than ONNX, by their contents: TensorFlow Lite and TensorFlow.js. They become ONNX,
// so that everything that takes a model takes them. Clients: model files of the command line and the window,
// convert-check.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/model.hpp"

namespace driftscope::convert {

struct ForeignModel {
  std::string kind;                           ///< "TensorFlow Lite", "TensorFlow.js"
  Model model;                                ///< values have the format's names and order of axes
  std::set<std::string, std::less<>> values;  ///< those that the format has; the others are of the conversion
  std::size_t weight_bytes = 0;               ///< of the files beside it that were read
};

/// Loads a whole file beside the model; names that leave its folder are never asked for.
using FilesBeside = std::function<Result<std::vector<std::byte>>(const std::string& name)>;

/// Nothing when the bytes are not such a model.
[[nodiscard]] Result<std::optional<ForeignModel>> read_foreign_model(std::span<const std::byte> bytes,
                                                                     const FilesBeside& files);

}  // namespace driftscope::convert
