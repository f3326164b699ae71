// The parts of the reader. Clients: the files of this folder only.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/convert/tfjs/reader/read.hpp"

namespace driftscope::convert::tfjs {

/// The type of a GraphDef as TensorFlow.js takes it: its name or its number.
[[nodiscard]] std::optional<DType> type_in(const nlohmann::json& json);

/// A TensorShapeProto; −1 for open dimensions. Nothing when even the rank is open.
[[nodiscard]] Result<std::optional<Shape>> shape_in(const nlohmann::json& json);

/// An AttrValue; nothing for kinds that no operator here reads (functions, tensors).
[[nodiscard]] Result<std::optional<tf::Attribute>> attribute_in(const nlohmann::json& json);

/// All weights of the manifest, quantized ones as the numbers that they represent.
[[nodiscard]] Result<std::map<std::string, Tensor, std::less<>>> read_weights(const nlohmann::json& manifest,
                                                                              const WeightFiles& files);

/// RFC 4648 base64, or nothing.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

/// 64-bit integers are texts in protobuf's JSON.
[[nodiscard]] std::optional<std::int64_t> integer_in(const nlohmann::json& json);

}  // namespace driftscope::convert::tfjs
