// driftscope: turns the result of a command into an exit code.
#include <malloc.h>

#include <csignal>
#include <exception>
#include <new>

#include "native/cli/commands/command_line.hpp"
#include "native/os/cleanup.hpp"

int main(int argc, char** argv) {
  // Layers allocate and free megabytes. Freed memory is kept for later ones: getting fresh
  // pages takes longer than computing many layers.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  // Exceeded file size limits and closed pipes become errors of a write instead of fatal signals.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  const driftscope::SignalWatcher signals;  // before any other thread
  try {
    return static_cast<int>(driftscope::run_command_line(argc, argv));
  } catch (const std::bad_alloc&) {
    driftscope::print_error(driftscope::limit_error("out of memory"));
    return static_cast<int>(driftscope::Exit::bad_input);
  } catch (const std::exception& error) {
    driftscope::print_error(driftscope::internal_error(error.what()));
    return static_cast<int>(driftscope::Exit::fault);
  }
}
