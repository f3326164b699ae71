// What is known of open descriptors beside what the system knows. Clients: files.cpp, paths.cpp,
// file_locks.cpp.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <string>

namespace driftscope::node {

inline constexpr double no_position = -1.0;  // a pipe or a terminal

struct OpenFile {
  std::atomic<double> position = no_position;  ///< Node has none: it is kept here
  std::atomic<bool> appends = false;
  std::atomic<bool> locked = false;  ///< file_locks.hpp
};

/// Descriptors are the system's own, which all threads share; files have no larger ones.
[[nodiscard]] bool is_descriptor(int fd);
[[nodiscard]] OpenFile& open_file(int fd);

/// 0, or -errno. `fd` ≥ 0: that one; else `path`.
int status_of(int fd, const char* path, bool follow, struct stat* status);
/// Of a connection, too.
int status_of_open(int fd, struct stat* status);

/// Folders that are open: their paths, since Node lists folders by name.
void remember_folder(int fd, const char* path);
void forget_folder(int fd);

}  // namespace driftscope::node
