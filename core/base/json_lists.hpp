// JSON whose bulk lies in arrays of objects, read without ever holding all of them: each object is handed
// over as soon as it is complete, and dropped. Client: the reader of comparisons (a hundred thousand layers).
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace driftscope {

/// `list`: how many such arrays began before this one; `owner`: the name of the object that holds the array,
/// "" for the root and entries of a nameless array.
using JsonEntry = std::function<void(std::size_t list, std::string_view owner, const nlohmann::json& entry)>;

/// Like parse_json, but objects in arrays under the key `name` go to `entry`; an array emptied so becomes a
/// marker that list_number reads. Other entries of such an array stay in it.
[[nodiscard]] nlohmann::json parse_json_lists(std::string_view text, std::string_view name,
                                              const JsonEntry& entry);

/// The number of the emptied array that `value` marks; nothing for other values.
[[nodiscard]] std::optional<std::size_t> list_number(const nlohmann::json& value);

}  // namespace driftscope
