// The processes that belong to a browser, read from /proc, and their total memory.
// Clients: child_process, memory_sampler, tests.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace driftscope {

/// A process that Driftscope started: the leader of its own session, with a marker of its own in
/// the environment that everything it starts inherits.
struct ProcessMark {
  pid_t leader = 0;
  std::string marker;  ///< "DRIFTSCOPE_PROCESS=…"
};

/// Running processes (no zombies) of the leader's session, their descendants and, with
/// `search_environment`, every other process that carries the marker: those that left the session.
/// The latter reads more files, so it is for ending rather than for sampling.
[[nodiscard]] std::vector<pid_t> find_processes(const ProcessMark& mark, bool search_environment);

/// Processes of this user whose own folders (TMPDIR, --user-data-dir) are in `folder`, except this one: what
/// the owner of a temporary folder has started, when it can no longer be asked.
[[nodiscard]] std::vector<pid_t> processes_in(const std::filesystem::path& folder);

/// Our children that have ended and that nobody has waited for.
[[nodiscard]] std::vector<pid_t> ended_children();

/// Proportional set size of all of them, in bytes: shared pages are counted once in all.
[[nodiscard]] std::int64_t total_pss(const std::vector<pid_t>& processes);

/// The arguments of a process, its program first; empty when it has ended.
[[nodiscard]] std::vector<std::string> command_line_of(pid_t process);

/// TERM to all; KILL to those still running after `grace_ms`. Returns when none is left, or after a
/// few seconds, with whether all have ended. Uses only /proc and signals.
bool end_processes(const ProcessMark& mark, int grace_ms);

}  // namespace driftscope
