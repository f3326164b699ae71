// A ModelProto without the data of its large initializers: small enough to be read as one message, while
// the model itself stays where it is (ByteSource). Client: the ONNX reader.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/base/byte_source.hpp"

namespace driftscope {

/// The location of data that was left out: "offset" and "length" (external data of the tensor) then say
/// where it lies in the model itself. A model that names it of its own reads itself.
inline constexpr std::string_view own_bytes_location = "(the model itself)";

/// Initializers with at least this much raw data are outlined.
inline constexpr std::uint64_t min_outlined_bytes = 16 << 10;

/// Every field stands as it did, but for raw_data of large initializers. What is no protobuf message
/// stands as it did, too: reading it will say what is wrong. Throws std::bad_alloc.
[[nodiscard]] std::vector<std::byte> outline_model(const ByteSource& model);

}  // namespace driftscope
