// The programs of a node as the document "node_programs". Clients: the service (writes it), run_in_browser
// (reads what a page sent).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/base/result.hpp"
#include "core/runtime/programs.hpp"

namespace driftscope {

/// JSON text.
[[nodiscard]] std::vector<std::byte> write_programs(const NodePrograms& programs);

/// bad_input, which names the field, for anything else.
[[nodiscard]] Result<NodePrograms> read_programs(std::span<const std::byte> document);

}  // namespace driftscope
