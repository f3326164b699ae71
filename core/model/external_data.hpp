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

/// Rejects what leaves the model's folder: absolute paths, drive letters, "..", backslashes.
[[nodiscard]] Status check_external_location(const std::string& location);

/// What a TensorProto says of where its data lies.
struct ExternalPlace {
  std::string location;
  std::int64_t offset = 0;
  std::int64_t length = 0;
};

/// The entries location, offset and length; without a length it is `bytes`, what the shape needs.
[[nodiscard]] Result<ExternalPlace> external_place(const std::map<std::string, std::string>& entries,
                                                   std::int64_t bytes);

/// Where these `bytes` bytes are.
[[nodiscard]] Result<ByteSource> find_external(const ExternalPlace& place, std::int64_t bytes,
                                               const ExternalData& find);

}  // namespace driftscope
