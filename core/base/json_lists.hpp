// JSON whose bulk lies in arrays of objects, read without ever holding all of them: each object is handed
// over as soon as it is complete, and dropped. Client: the reader of comparisons (a hundred thousand layers).
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace driftscope {

/// `list`: how many such arrays were begun before; `owner`: the name of the object that holds the array, ""
/// for the root and entries of a nameless array.
using JsonEntry = std::function<void(std::size_t list, std::string_view owner, const nlohmann::json& entry)>;

/// As parse_json, but objects in arrays under the key `name` go to `entry`; list_number tells which stood
/// there. Other entries of such an array stay in it.
[[nodiscard]] nlohmann::json parse_json_lists(std::string_view text, std::string_view name,
                                              const JsonEntry& entry);

/// Of a value that stands for an array whose entries were all handed over: its number; nothing for others.
[[nodiscard]] std::optional<std::size_t> list_number(const nlohmann::json& value);

}  // namespace driftscope
