#include <fstream>
#include <sstream>

#include "native/os/child_process.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope {

Result<std::string> command_output(const ProcessSpec& spec, int timeout_ms) {
  DRIFTSCOPE_TRY(const TempFolder folder, TempFolder::make());
  ProcessSpec quiet = spec;
  quiet.output = folder.path() / "output";
  quiet.errors_too = false;
  DRIFTSCOPE_TRY(ChildProcess child, ChildProcess::start(quiet));
  const bool exited = child.wait(timeout_ms);
  const bool well = exited && child.exited_well();
  const std::string how = child.exit_text();
  child.end(exited ? 0 : 500);
  if (!exited)
    return limit_error("'" + spec.arguments.front() + "' gave no answer within " +
                       std::to_string(timeout_ms) + " ms");
  std::ifstream file(quiet.output);
  std::ostringstream text;
  text << file.rdbuf();
  if (!well) return io_error("'" + spec.arguments.front() + "' failed: " + how + ": " + text.str());
  return std::move(text).str();
}

}  // namespace driftscope
