// What the pages of a wall have in common. Clients: front_page, model_page.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/wall/pages.hpp"
#include "core/wall/wall.hpp"

namespace driftscope::wall {

inline constexpr std::size_t most_name = 80;      ///< columns of a name
inline constexpr std::size_t most_reason = 1000;  ///< of an error

/// With the rules of every page and those of this one.
[[nodiscard]] Page make_page(const std::string& title, std::string_view rules, const std::string& main);

/// "✗ fault" in its colour.
[[nodiscard]] std::string state_html(State state);

/// "2026-11-30"; "–" where it is not known.
[[nodiscard]] std::string day_of(const Run& run);

/// "Linux x86_64 · NVIDIA …": where something ran, escaped; empty where nothing is known.
[[nodiscard]] std::string place_html(const std::string& system, const std::string& device, std::size_t width);

/// Its name, and the beginning of its hash where another one has the same name.
[[nodiscard]] std::string model_html(const Model& model);

/// The last steps of a history, oldest first: the symbol of each, and below them how long the runs took, from
/// nothing to the longest. `steps`: at most so many.
[[nodiscard]] std::string strip_svg(const Series& series, std::size_t steps);

/// "model-page.html#anchor", escaped.
[[nodiscard]] std::string link_to(const Model& model, const Series& series);

}  // namespace driftscope::wall
