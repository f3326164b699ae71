#include "native/os/temp_folder.hpp"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

namespace driftscope {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view name_prefix = "driftscope-";

// A process that is being killed may still write; a second and a third attempt handle that.
void remove_folder(const fs::path& folder) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    std::error_code error;
    fs::remove_all(folder, error);
    if (!fs::exists(fs::symlink_status(folder, error))) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

// "driftscope-PID-XXXXXX": the pid of its creator, 0 for other names.
pid_t maker_of(const std::string& name) {
  if (!name.starts_with(name_prefix)) return 0;
  pid_t pid = 0;
  const char* begin = name.data() + name_prefix.size();
  const auto [end, error] = std::from_chars(begin, name.data() + name.size(), pid);
  return error == std::errc{} && end != name.data() + name.size() && *end == '-' ? pid : 0;
}

void remove_leftovers(const fs::path& parent) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent, error)) {
    const pid_t maker = maker_of(entry.path().filename().string());
    if (maker <= 0 || kill(maker, 0) == 0 || errno != ESRCH) continue;
    struct stat info{};
    if (lstat(entry.path().c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid())
      remove_folder(entry.path());
  }
}

}  // namespace

Result<TempFolder> TempFolder::make() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) return io_error("no folder for temporary files: " + error.message());
  remove_leftovers(parent);
  std::string name = (parent / (std::string(name_prefix) + std::to_string(getpid()) + "-XXXXXX")).string();
  auto id = CleanupRegistry::instance().add([&]() -> Result<CleanupRegistry::Undo> {
    if (!mkdtemp(name.data()))
      return io_error("cannot make a folder in '" + parent.string() + "': " + std::strerror(errno));
    return CleanupRegistry::Undo([name] { remove_folder(name); });
  });
  if (!id.ok()) return std::move(id).error();
  TempFolder folder;
  folder.path_ = name;
  folder.cleanup_ = *id;
  return folder;
}

TempFolder::TempFolder(TempFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), cleanup_(other.cleanup_) {}

TempFolder::~TempFolder() {
  if (path_.empty()) return;
  remove_folder(path_);
  CleanupRegistry::instance().remove(cleanup_);
}

}  // namespace driftscope
