// A file that is being written beside the one whose place it will take, and what programs that were killed
// left of such files. Client: AtomicFile.
#pragma once

#include <filesystem>
#include <string>

#include "core/base/result.hpp"
#include "native/os/file_descriptor.hpp"

namespace driftscope {

struct UnfinishedFile {
  std::string name;
  FileDescriptor file;
};

/// A new one beside `path`, with the mode of any new file; others know that its owner lives as long as it is
/// open. The error is the system's message alone.
[[nodiscard]] Result<UnfinishedFile> begin_unfinished(const std::filesystem::path& path);

/// For a moment after `fd` is closed, until the file has its name: others still know that its owner lives as
/// long as this is open.
[[nodiscard]] FileDescriptor keep_lock(int fd);

/// Removes those in the folder whose owners were killed.
void remove_abandoned_files(const std::filesystem::path& folder);

}  // namespace driftscope
