// A program started in a session of its own, and ended together with all processes that it
// has started. Clients: xvfb, launcher, browser versions, tests.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "native/os/process_tree.hpp"

namespace driftscope {

struct ProcessSpec {
  std::vector<std::string> arguments;              ///< the program first, searched in PATH
  std::map<std::string, std::string> environment;  ///< added to ours
  std::vector<std::string> without;                ///< variables of ours to leave out
  std::filesystem::path output;                    ///< file for stdout and stderr; empty: discarded
  bool errors_too = true;                          ///< false: stderr is discarded
  int pass_fd = -1;                                ///< open in the child in addition to 0 to 2
  int passed_as = -1;                              ///< under this number; −1: the same
};

class ChildProcess {
 public:
  /// Errors: missing when the program is not found, io when it cannot be started.
  [[nodiscard]] static Result<ChildProcess> start(const ProcessSpec& spec);
  /// Ends it if end() was not called.
  ~ChildProcess();
  ChildProcess(ChildProcess&&) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;

  [[nodiscard]] bool running() const;
  /// Waits up to this long for the program itself; whether it has exited.
  [[nodiscard]] bool wait(int milliseconds) const;
  /// "exit status 1", "killed by signal 11 (Segmentation fault)"; empty while it runs.
  [[nodiscard]] std::string exit_text() const;
  [[nodiscard]] bool exited_well() const;  ///< exited with status 0
  /// Nothing while it runs, or where a signal has ended it.
  [[nodiscard]] std::optional<int> exit_code() const;
  [[nodiscard]] const ProcessMark& mark() const;

  /// TERM to the whole tree, KILL after `grace_ms`; returns when no process is left.
  void end(int grace_ms = 2000);

 private:
  struct State;
  explicit ChildProcess(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Standard output of a short command, or an error: it takes longer than `timeout_ms`, or its exit
/// status is not 0.
[[nodiscard]] Result<std::string> command_output(const ProcessSpec& spec, int timeout_ms);

}  // namespace driftscope
