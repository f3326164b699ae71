// Fields of a preprocessing description, read with checks: the message names the field, what was
// expected and what it is. Clients: preprocess, text_preprocess.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace driftscope {

/// Longest side of a picture, and most words of a text.
inline constexpr std::int64_t largest_sample_side = 16384;

/// The JSON object of a description, whose format has been checked.
[[nodiscard]] Result<nlohmann::json> parse_description_object(std::string_view json_text);

[[nodiscard]] Result<std::string> description_text(const nlohmann::json& object, const char* key);
/// Nothing when the field is absent or null.
[[nodiscard]] Result<std::optional<std::int64_t>> description_index(const nlohmann::json& object,
                                                                    const char* key);
/// From 1 to largest_sample_side.
[[nodiscard]] Result<std::int64_t> description_size(const nlohmann::json& object, const char* key);
/// False when the field is absent.
[[nodiscard]] Result<bool> description_flag(const nlohmann::json& object, const char* key);
/// A number, a double in JSON, rounded to float32.
[[nodiscard]] Result<float> description_number(const nlohmann::json& value, const char* key);
/// A list of texts; empty when the field is absent.
[[nodiscard]] Result<std::vector<std::string>> description_texts(const nlohmann::json& object,
                                                                 const char* key);
/// Position of the text in `choices`; the first of them when the field is absent.
[[nodiscard]] Result<std::size_t> description_choice(const nlohmann::json& object, const char* key,
                                                     const std::vector<std::string>& choices);

}  // namespace driftscope
