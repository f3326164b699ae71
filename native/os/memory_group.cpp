#include "native/os/memory_group.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace driftscope {
namespace {

namespace fs = std::filesystem;

/// What a version of cgroups calls its files, and pages of files in memory.stat.
struct Version {
  const char* limit;
  const char* throttled;  ///< beyond it the kernel takes memory back and slows the group down; null: none
  const char* used;
  std::string_view idle_pages;
  std::string_view active_pages;
};
constexpr Version first = {"memory.limit_in_bytes", nullptr, "memory.usage_in_bytes", "total_inactive_file",
                           "total_active_file"};
constexpr Version second = {"memory.max", "memory.high", "memory.current", "inactive_file", "active_file"};

constexpr std::int64_t no_limit = std::int64_t{1} << 62;  // version 1 says nearly 2^63

std::int64_t pages_of_files(const fs::path& group, const Version& version) {
  std::ifstream file(group / "memory.stat");
  std::int64_t pages = 0;
  std::int64_t bytes = 0;
  for (std::string name; file >> name >> bytes;)
    if ((name == version.idle_pages || name == version.active_pages) && bytes > 0 && bytes < no_limit)
      pages += bytes;
  return pages;
}

std::optional<std::int64_t> free_in(const fs::path& group, const Version& version) {
  std::int64_t limit = no_limit;
  for (const char* const name : {version.limit, version.throttled}) {
    std::int64_t bytes = 0;  // "max" is not a number
    if (name != nullptr && std::ifstream(group / name) >> bytes && bytes >= 0) limit = std::min(limit, bytes);
  }
  if (limit == no_limit) return {};
  std::int64_t used = 0;
  std::ifstream(group / version.used) >> used;
  const std::int64_t kept = std::max<std::int64_t>(used - pages_of_files(group, version), 0);
  return std::max<std::int64_t>(limit - kept, 1);
}

/// Of a group and those above it, which all count.
std::optional<std::int64_t> free_below(const fs::path& root, std::string_view path, const Version& version) {
  if (path.starts_with("/..")) return {};  // a group beside what is seen here
  std::optional<std::int64_t> smallest = free_in(root, version);
  fs::path group = root;
  for (const fs::path& name : fs::path(path).relative_path()) {
    group /= name;
    if (const auto free = free_in(group, version)) smallest = std::min(*free, smallest.value_or(*free));
  }
  return smallest;
}

}  // namespace

std::int64_t free_in_memory_groups(const fs::path& mounted, std::string_view own) {
  std::optional<std::int64_t> smallest;
  while (!own.empty()) {
    const auto end = std::min(own.find('\n'), own.size());
    const std::string_view line = own.substr(0, end);  // number:controllers:path
    own.remove_prefix(std::min(end + 1, own.size()));
    const auto controllers = line.find(':');
    const auto path = controllers == line.npos ? line.npos : line.find(':', controllers + 1);
    if (path == line.npos) continue;
    const std::string_view which = line.substr(controllers + 1, path - controllers - 1);
    std::optional<std::int64_t> free;
    if (which.empty())
      free = free_below(mounted, line.substr(path + 1), second);
    else if (which == "memory")
      free = free_below(mounted / "memory", line.substr(path + 1), first);
    if (free) smallest = std::min(*free, smallest.value_or(*free));
  }
  return smallest.value_or(0);
}

}  // namespace driftscope
