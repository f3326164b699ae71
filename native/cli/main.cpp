// driftscope: turns the result of a command into an exit code.
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include "native/cli/commands/command_line.hpp"
#include "native/os/cleanup.hpp"

namespace {

// A file that is opened later would get the number of a closed one, and receive what is printed.
void open_standard_files() {
  constexpr int how[] = {O_RDONLY, O_RDONLY, O_WRONLY};  // printing to a closed output remains an error
  for (int fd = 0; fd < 3; ++fd)
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", how[fd]);
}

// A mapped file that somebody cut shorter while it was read. Nothing but write(2) is safe here; what was
// being written has a temporary name, and the next run removes it.
extern "C" void end_on_lost_file(int) {
  constexpr std::string_view text =
      "driftscope: a file became shorter while it was read (or its disk failed); run again when nothing "
      "writes it\n";
  (void)!::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(static_cast<int>(driftscope::Exit::bad_input));
}

driftscope::Exit end_on_exception(const std::exception& error) {
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  if (system != nullptr && system->code() == std::errc::resource_unavailable_try_again) {  // no thread
    driftscope::print_error(
        driftscope::limit_error("the system gives no more memory or threads; allow more, or use fewer "
                                "(--target pc/strict:threads=1)"));
    return driftscope::Exit::bad_input;
  }
  driftscope::print_error(driftscope::internal_error(error.what()));
  return driftscope::Exit::fault;
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_files();
  // Layers allocate and free megabytes. Freed memory is kept for later ones: getting fresh
  // pages takes longer than computing many layers.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  // Exceeded file size limits and closed pipes become errors of a write instead of fatal signals.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGBUS, end_on_lost_file);
  try {
    const driftscope::SignalWatcher signals;  // before any other thread
    const driftscope::Exit code = driftscope::run_command_line(argc, argv);
    const driftscope::Status written = driftscope::flush_output();
    if (written.ok()) return static_cast<int>(code);
    driftscope::print_error(written.error());
    return static_cast<int>(code == driftscope::Exit::ok ? driftscope::Exit::bad_input : code);
  } catch (const std::bad_alloc&) {
    driftscope::print_error(driftscope::limit_error("out of memory"));
    return static_cast<int>(driftscope::Exit::bad_input);
  } catch (const std::exception& error) {
    return static_cast<int>(end_on_exception(error));
  }
}
