#include "native/os/desktop.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>

#include "native/os/find_program.hpp"

namespace driftscope {

Status open_with_desktop(const std::string& url) {
  const std::filesystem::path opener = find_program("xdg-open");
  if (opener.empty()) return missing_error("--open needs xdg-open (package xdg-utils); open the URL by hand");
  std::string program = opener.string();
  std::string argument = url;
  char* const arguments[] = {program.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const int fd : {0, 1, 2}) posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, program.c_str(), &files, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) return io_error("cannot start xdg-open: " + std::string(std::strerror(error)));
  return {};
}

bool has_x_windows() { return true; }

}  // namespace driftscope
