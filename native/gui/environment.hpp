// What this machine can run, and its earlier measurements. Client: desktop_host.
#pragma once

#include <filesystem>
#include <vector>

#include "core/gui/feed.hpp"

namespace driftscope {

/// Every engine here and in each browser (except the reference, the same everywhere), or why not and how
/// to get it. Starts the browsers' programs to ask for their versions.
[[nodiscard]] std::vector<gui::TargetChoice> targets_here(const std::filesystem::path& site);

/// The file of the history of benches; empty if there is none.
[[nodiscard]] std::filesystem::path default_history();

/// Its series; none when it is absent or cannot be read.
[[nodiscard]] std::vector<gui::RunTrend> read_history(const std::filesystem::path& file);

}  // namespace driftscope
