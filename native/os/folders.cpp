#include "native/os/folders.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "native/os/file_descriptor.hpp"

namespace driftscope {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& path) {
  const fs::path folder = path.parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

Status flush_folder(const fs::path& folder) {
  const FileDescriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.get() < 0 && errno == EACCES) {  // one may write there and not read: everything, then
    ::sync();
    return {};
  }
  if (opened.get() < 0) return io_error(system_message());
  // EINVAL: the file system has no such thing (fsync(2)).
  if (::fsync(opened.get()) != 0 && errno != EINVAL) return io_error(system_message());
  return {};
}

Status make_folders(const fs::path& folder) {
  std::vector<fs::path> missing;
  std::error_code ignored;
  for (fs::path at = folder; !at.empty() && !fs::exists(at, ignored); at = at.parent_path())
    missing.push_back(at);
  for (auto made = missing.rbegin(); made != missing.rend(); ++made) {
    const auto failed = [&](const std::string& why) {
      return io_error(fmt::format("cannot make the folder {}: {}", made->string(), why));
    };
    if (::mkdir(made->c_str(), 0777) != 0 && errno != EEXIST) return failed(system_message());
    if (const Status kept = flush_folder(folder_of(*made)); !kept.ok()) return failed(kept.error().message);
  }
  return {};
}

}  // namespace driftscope
