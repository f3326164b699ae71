// Names of layers for people. Exporters repeat a module's path in every segment
// ("/features/features.3/conv/conv.0/Conv"): cut in the middle, neighbours would look alike.
// Clients: text tables, report, GUI.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace driftscope {

/// The segments of a name between slashes, without those that the next one repeats: "features.3", "conv.0",
/// "Conv".
[[nodiscard]] std::vector<std::string> scopes_of(std::string_view name);

/// The same as one name each: "features.3/conv.0/Conv", without the scopes that all of them share. Where two
/// would be equal both stay as they are.
[[nodiscard]] std::vector<std::string> short_names(std::span<const std::string> names);

/// The same unless all names fit in `width` as they are.
[[nodiscard]] std::vector<std::string> fitting_names(std::span<const std::string> names, std::size_t width);

/// At most `width` columns, the beginning replaced by "…": the end distinguishes layers.
[[nodiscard]] std::string elide_start(std::string_view text, std::size_t width);

}  // namespace driftscope
