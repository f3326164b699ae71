// driftscope: turns the result of a command into an exit code.
#include <exception>
#include <new>
#include <system_error>

#include "native/cli/commands/command_line.hpp"
#include "native/os/free_memory.hpp"
#include "native/os/process_start.hpp"
#include "native/os/signal_watcher.hpp"

namespace {

driftscope::Exit end_on_exception(const std::exception& error) {
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  if (system != nullptr && system->code() == std::errc::resource_unavailable_try_again) {  // no thread
    driftscope::print_error(
        driftscope::limit_error("the system provides no more memory or threads; allow more, or use fewer "
                                "(--target pc/strict:threads=1)"));
    return driftscope::Exit::bad_input;
  }
  driftscope::print_error(driftscope::internal_error(error.what()));
  return driftscope::Exit::fault;
}

}  // namespace

int main(int argc, char** argv) {
  driftscope::guard_process(static_cast<int>(driftscope::Exit::bad_input));
  driftscope::keep_free_memory();
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
