// The smallest errors that the verdict detects, by operator, size and element type: the table of
// docs/sensitivity.md. Client: main.
#pragma once

#include <string>

#include "core/platform/platform.hpp"

namespace driftscope::faults {

/// Markdown. Each number is the largest of `seeds` draws.
[[nodiscard]] std::string minimum_errors(std::uint64_t seeds, ThreadPool& threads);

}  // namespace driftscope::faults
