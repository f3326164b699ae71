// A ModelProto without the data of its large initializers: small enough to be read as one message, while
// the model itself stays where it is (ByteSource). Client: the ONNX reader.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/base/byte_source.hpp"

namespace driftscope {

/// The `location` that marks data which the outline leaves out: "offset" and "length" of the tensor's
/// external data are then positions in the model file. A model that uses this location itself refers to its
/// own bytes.
inline constexpr std::string_view own_bytes_location = "(the model itself)";

/// Initializers with at least this much raw data are outlined.
inline constexpr std::uint64_t min_outlined_bytes = 16 << 10;

/// Copies every field except raw_data of large initializers. Bytes that are not a protobuf message are copied
/// unchanged: the reader then reports what is wrong. Throws std::bad_alloc.
[[nodiscard]] std::vector<std::byte> outline_model(const ByteSource& model);

}  // namespace driftscope
