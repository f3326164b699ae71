// JSON from text and to text. The library's parser and serializer are templates, recompiled in every file
// that calls them: a tenth of all code. Here they are compiled once. Clients: everything that
// reads or writes JSON. Text from elsewhere is read within limits: by parse_document (json_lists.hpp), or
// after a look (json_walk.hpp).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace driftscope {

/// Discarded (`is_discarded()`) where the text is not JSON. Never throws.
[[nodiscard]] nlohmann::json parse_json(std::string_view text);
/// The same, with the keys of objects in the order of the text.
[[nodiscard]] nlohmann::ordered_json parse_ordered_json(std::string_view text);

/// The text of a key; empty where `object` has none, or is no object.
[[nodiscard]] std::string text_at(const nlohmann::json& object, std::string_view key);

/// Never throws: bytes that are not UTF-8 (names in a hostile model) are replaced. `indent`: spaces per
/// level, −1 for one line.
[[nodiscard]] std::string json_text(const nlohmann::json& value, int indent = -1);
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& value, int indent = -1);
/// On one line; an error where a text in it is not UTF-8. `what`: its name, for the message.
[[nodiscard]] Result<std::string> exact_json_text(const nlohmann::json& value, std::string_view what);
[[nodiscard]] Result<std::string> exact_json_text(const nlohmann::ordered_json& value, std::string_view what);

}  // namespace driftscope
