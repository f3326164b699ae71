// JSON from elsewhere, within limits; where its bulk lies in arrays of objects, without ever holding all of
// them: each object is handed over as soon as it is complete, and dropped. Clients: the readers of
// comparisons (a hundred thousand layers) and of baselines.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>

#include "core/base/result.hpp"

namespace driftscope {

/// `list`: how many such arrays began before this one; `place`: which of the places it is at.
using JsonEntry =
    std::function<void(std::size_t list, std::size_t place, const nlohmann::ordered_json& entry)>;

/// How deep objects and lists may lie inside each other: what walks through them recurses.
inline constexpr int max_json_depth = 64;
/// Of one object.
inline constexpr std::size_t max_json_keys = 10'000;

/// Objects in arrays at one of `places` go to `entry`; an array emptied so becomes a marker that list_number
/// reads. Other entries of such an array stay in it. A place is the keys down to the array, with dots between
/// them; arrays on the way have no part in it: "right.layers" is each list of {"right": [{"layers": […]}]}.
/// Errors: no JSON, too deep, too many keys.
[[nodiscard]] Result<nlohmann::ordered_json> parse_json_lists(std::string_view text,
                                                              std::span<const std::string_view> places,
                                                              const JsonEntry& entry);

/// A whole document from elsewhere, its keys in their order, within the same limits.
[[nodiscard]] Result<nlohmann::ordered_json> parse_document(std::string_view text);

/// The number of the emptied array that `value` marks; nothing for other values.
[[nodiscard]] std::optional<std::size_t> list_number(const nlohmann::ordered_json& value);

}  // namespace driftscope
