#include "native/os/temp_folder.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "native/os/folder_lock.hpp"
#include "native/os/process_tree.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view new_prefix = ".driftscope-";

// With one descriptor at a time, however deep it is: fs::remove_all takes one for each level, and gives up
// where a process has none left.
void remove_tree(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error))
    entries.push_back(*entry);
  for (const fs::directory_entry& entry : entries)
    if (entry.symlink_status(error).type() == fs::file_type::directory)
      remove_tree(entry.path());
    else
      ::unlink(entry.path().c_str());
  ::rmdir(folder.c_str());
}

// A process that is being killed may still write; a second and a third attempt handle that.
bool remove_folder(const fs::path& folder) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    remove_tree(folder);
    std::error_code error;
    if (!fs::exists(fs::symlink_status(folder, error))) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

// "driftscope-PID-XXXXXX" and nothing else: a user may have folders with similar names.
bool is_ours(std::string_view name) {
  constexpr std::size_t random = 6;
  if (!name.starts_with(locked_folder_prefix)) return false;
  name.remove_prefix(locked_folder_prefix.size());
  const std::size_t digits = name.find_first_not_of("0123456789");
  return digits != 0 && digits != std::string_view::npos && name[digits] == '-' &&
         name.size() == digits + 1 + random;
}

// A killed Driftscope's browsers end with it, but not those of their processes that were stopped.
void end_leftover_processes(const fs::path& folder) {
  for (int attempt = 0; attempt < 50; ++attempt) {
    const std::vector<pid_t> left = processes_in(folder);
    if (left.empty()) return;
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

bool is_old(const struct stat& info) {
  constexpr std::time_t seconds = 3600;
  return std::time(nullptr) - info.st_mtime > seconds;
}

void remove_leftovers(const fs::path& parent) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent, error)) {
    const std::string name = entry.path().filename().string();
    const bool unfinished = name.starts_with(new_prefix) && name.size() == new_prefix.size() + 6;
    if (!unfinished && !is_ours(name)) continue;
    struct stat info{};
    if (lstat(entry.path().c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid())
      continue;
    if (unfinished && !is_old(info)) continue;  // between making and locking
    const int lock = lock_folder(entry.path());
    if (lock < 0) continue;
    end_leftover_processes(entry.path());
    (void)remove_folder(entry.path());
    ::close(lock);
  }
}

}  // namespace

Result<TempFolder> TempFolder::make() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) return io_error("no folder for temporary files: " + error.message());
  return make_in(parent);
}

Result<TempFolder> TempFolder::make_in(const fs::path& parent) {
  remove_leftovers(parent);
  std::string made = (parent / (std::string(new_prefix) + "XXXXXX")).string();
  TempFolder folder;
  auto id = CleanupRegistry::instance().add([&]() -> Result<CleanupRegistry::Undo> {
    const auto failed = [&](const char* what) {
      return io_error("cannot " + std::string(what) + " a folder in '" + parent.string() +
                      "': " + std::strerror(errno));
    };
    if (!mkdtemp(made.data())) return failed("make");
    folder.lock_ = lock_folder(made);
    const std::string name = (parent / (std::string(locked_folder_prefix) + std::to_string(getpid()) +
                                        made.substr(made.rfind('-'))))
                                 .string();
    if (folder.lock_ < 0 || ::rename(made.c_str(), name.c_str()) != 0) {
      Error why = failed("lock");
      ::rmdir(made.c_str());
      return why;
    }
    folder.path_ = name;
    return CleanupRegistry::Undo([name] { remove_folder(name); });
  });
  if (!id.ok()) {
    if (folder.lock_ >= 0) ::close(folder.lock_);
    folder.lock_ = -1;
    return std::move(id).error();
  }
  folder.cleanup_ = *id;
  return folder;
}

TempFolder::TempFolder(TempFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      lock_(std::exchange(other.lock_, -1)),
      cleanup_(other.cleanup_) {}

TempFolder::~TempFolder() {
  if (path_.empty()) return;
  const bool removed = remove_folder(path_);
  ::close(lock_);
  if (!removed) remove_folder(path_);  // with the descriptor of the lock, it may have been the last one
  CleanupRegistry::instance().remove(cleanup_);
}

}  // namespace driftscope
