// Sizes and attributes of a node in words: "input channels". Client: parameter_table.
#pragma once

#include <span>
#include <string>

#include "core/repro/excerpt_edit.hpp"

namespace driftscope {

/// Of axes that have one size together: the first that has a name of its own.
[[nodiscard]] std::string size_name(const Excerpt& excerpt, std::span<const ExcerptAxis> axes);

/// Those that are more likely to matter come first: 0, 1, …
[[nodiscard]] int size_order(const std::string& name);

}  // namespace driftscope
