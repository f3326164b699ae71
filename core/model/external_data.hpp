// Tensors whose data lies in another file beside the model (ONNX IR, "External Tensor Data").
// Client: the ONNX reader. It decides what may be loaded; loading is the caller's (ExternalData).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/onnx_reader.hpp"

namespace driftscope {

/// Refuses what leaves the model's folder: absolute paths, drive letters, "..", backslashes.
[[nodiscard]] Status check_external_location(const std::string& location);

/// The `bytes` bytes that the entries (location, offset, length) of a TensorProto name.
[[nodiscard]] Result<std::vector<std::byte>> load_external(
    const std::map<std::string, std::string>& entries, std::int64_t bytes,
    const ExternalData& load);

}  // namespace driftscope
