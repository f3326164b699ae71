// A file through which a browser gets an address that must stay secret. Client: launcher.
#pragma once

#include <filesystem>
#include <string>

#include "core/base/result.hpp"

namespace driftscope {

/// Writes start.html, which only this user can read, into `folder` (which must be this user's alone) and
/// returns its file: URL. The page goes on to `url`. Arguments of a process can be read by every user of a
/// machine, and the token in `url` admits any client that knows it. Errors: the file exists or cannot be
/// written.
[[nodiscard]] Result<std::string> write_start_page(const std::filesystem::path& folder,
                                                   const std::string& url);

/// A file: URL of an absolute path, percent-encoded.
[[nodiscard]] std::string file_url(const std::filesystem::path& path);

}  // namespace driftscope
