// The results of `compare DIR` as text for a terminal. Clients: the command, the page (cells).
#pragma once

#include <string>

#include "generated/documents/folder.hpp"

namespace driftscope {

/// A table for each part, reasons of what failed, the smallest variant, what was excluded and why.
[[nodiscard]] std::string folder_text(const documents::Folder& results);

/// "same", "other", "3 of 17 differ"; "–" where there is no prediction.
[[nodiscard]] std::string prediction_text(const documents::FolderCell& cell);
/// "~ rounding", "✗ fault", "did not run".
[[nodiscard]] std::string cell_verdict(const documents::FolderCell& cell);
/// "<0.1 s", "1.24 s": what is shorter cannot be told from outside.
[[nodiscard]] std::string load_text(const documents::FolderCell& cell);
[[nodiscard]] std::string run_text(const documents::FolderCell& cell);

}  // namespace driftscope
