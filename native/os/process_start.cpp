#include "native/os/process_start.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <string_view>

namespace driftscope {
namespace {

int exit_code_of_lost_file = 1;

// A file that is opened later would get the number of a closed one, and receive what is printed.
void open_standard_files() {
  constexpr int how[] = {O_RDONLY, O_RDONLY, O_WRONLY};  // printing to a closed output remains an error
  for (int fd = 0; fd < 3; ++fd)
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", how[fd]);
}

// Nothing but write(2) is safe here; what was being written has a temporary name, and the next run removes
// it.
extern "C" void end_on_lost_file(int) {
  constexpr std::string_view text =
      "driftscope: a file became shorter while it was read (or its disk failed); run again when nothing "
      "writes it\n";
  (void)!::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(exit_code_of_lost_file);
}

}  // namespace

void guard_process(int exit_code) {
  exit_code_of_lost_file = exit_code;
  open_standard_files();
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGBUS, end_on_lost_file);
}

}  // namespace driftscope
