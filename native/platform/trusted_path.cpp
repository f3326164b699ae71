#include "native/platform/trusted_path.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "native/platform/one_job_machine.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

bool is_trusted_owner(uid_t owner) {
  static const uid_t of_program = [] {
    struct stat info{};
    return ::stat("/proc/self/exe", &info) == 0 ? info.st_uid : uid_t{0};
  }();
  return owner == 0 || owner == ::geteuid() || owner == of_program;
}

std::string reason(const fs::path& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return fmt::format("'{}' cannot be examined", path.string());
  if (!is_trusted_owner(info.st_uid))
    return fmt::format("'{}' belongs to another user ({})", path.string(), info.st_uid);
  // In a sticky folder, such as /tmp, others can add files but not replace ours.
  const bool sticky = S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0;
  if ((info.st_mode & S_IWOTH) != 0 && !sticky && !is_machine_of_one_job())
    return fmt::format("every user may write to '{}'", path.string());
  // Many systems give each user a group of their own; what root opened to a group is root's decision.
  const bool foreign_group = info.st_uid != 0 && info.st_gid != 0 && info.st_gid != ::getegid();
  if ((info.st_mode & S_IWGRP) != 0 && foreign_group && !sticky)
    return fmt::format("a group ({}) may write to '{}'", info.st_gid, path.string());
  return {};
}

}  // namespace

bool is_below(const fs::path& path, const fs::path& folder) {
  if (folder.empty()) return false;
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

std::string why_untrusted(const fs::path& path) {
  std::error_code error;
  fs::path part = fs::canonical(path, error);
  if (error) return fmt::format("'{}' cannot be examined: {}", path.string(), error.message());
  const fs::path program = fs::canonical("/proc/self/exe", error);
  // Who can change a folder that leads to this program as well could replace the program.
  while (part != part.root_path() && !is_below(program, part)) {
    if (std::string why = reason(part); !why.empty()) return why;
    part = part.parent_path();
  }
  return {};
}

std::string why_untrusted_tree(const fs::path& folder) {
  if (std::string why = why_untrusted(folder); !why.empty()) return why;
  std::error_code error;
  constexpr auto links_too = fs::directory_options::follow_directory_symlink;
  for (auto entry = fs::recursive_directory_iterator(folder, links_too, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const bool is_link = entry->is_symlink(error);
    if (std::string why = is_link ? why_untrusted(entry->path()) : reason(entry->path()); !why.empty())
      return why;
  }
  return error ? fmt::format("'{}' cannot be examined: {}", folder.string(), error.message()) : std::string();
}

}  // namespace driftscope
