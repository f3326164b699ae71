#include "native/os/child_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>

#include "native/os/cleanup.hpp"
#include "native/os/find_program.hpp"
#include "native/os/process_environment.hpp"
#include "native/os/token.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// Between fork and exec: only async-signal-safe calls, everything is prepared before.
[[noreturn]] void become(const char* program, char* const* arguments, char* const* variables, int output,
                         int errors, int pass_fd, int passed_as, int report, pid_t parent,
                         const rlimit& memory) {
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // if Driftscope is killed, no process may remain
  if (getppid() != parent) _exit(127);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD, SIGBUS}) signal(number, SIG_DFL);
  setrlimit(RLIMIT_DATA, &memory);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nothing, 0);
  dup2(output >= 0 ? output : nothing, 1);
  dup2(errors >= 0 ? errors : nothing, 2);
#ifdef SYS_close_range
  constexpr unsigned close_on_exec = 1u << 2;  // CLOSE_RANGE_CLOEXEC
  syscall(SYS_close_range, 3u, ~0u, close_on_exec);
#endif
  // The report's end must not be overwritten, so that it moves out of the way.
  if (passed_as >= 0 && report == passed_as) report = fcntl(report, F_DUPFD_CLOEXEC, passed_as + 1);
  if (passed_as >= 0 && pass_fd != passed_as) dup2(pass_fd, passed_as);
  if (pass_fd >= 0) fcntl(passed_as >= 0 ? passed_as : pass_fd, F_SETFD, 0);
  execve(program, arguments, variables);
  const int error = errno;
  const ssize_t written = write(report, &error, sizeof(error));
  _exit(written == sizeof(error) ? 127 : 126);
}

siginfo_t peek(pid_t pid) {
  siginfo_t info{};
  // WNOWAIT: the process is reaped only after its whole tree has ended, so that its pid is not reused.
  waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT);
  return info;
}

// The programs that we have started and not yet ended.
struct Leaders {
  std::mutex mutex;
  std::set<pid_t> pids;

  static Leaders& instance() {
    static Leaders& leaders = *new Leaders;  // as the clean-up registry, never destroyed
    return leaders;
  }
};

// Ends the tree and reaps our children in it: the leader, and the orphans that became our children, also
// those that had ended before, which no longer say whose they were. Not every machine's init reaps
// quickly, so that zombies would be visible for a while.
siginfo_t end_and_reap(const ProcessMark& mark, int grace_ms) {
  end_processes(mark, grace_ms);
  const siginfo_t how = peek(mark.leader);
  Leaders& leaders = Leaders::instance();
  const std::lock_guard lock(leaders.mutex);
  leaders.pids.erase(mark.leader);
  for (const pid_t pid : ended_children())
    if (!leaders.pids.contains(pid)) waitpid(pid, nullptr, WNOHANG);
  return how;
}

}  // namespace

struct ChildProcess::State {
  ProcessMark mark;
  CleanupRegistry::Id cleanup = 0;
  bool ended = false;
  siginfo_t last{};
};

Result<ChildProcess> ChildProcess::start(const ProcessSpec& spec) {
  const fs::path program = find_program(spec.arguments.front());
  if (program.empty()) {
    const std::string why = why_passed_over(spec.arguments.front());
    return missing_error(why.empty() ? "'" + spec.arguments.front() + "' is not installed" : why);
  }
  DRIFTSCOPE_TRY(const std::string token, random_token());
  auto state = std::make_unique<State>();
  state->mark.marker = "DRIFTSCOPE_PROCESS=" + token;
  std::vector<std::string> variables = merged_environment(spec, state->mark.marker);
  std::vector<std::string> arguments = spec.arguments;
  const std::vector<char*> argument_pointers = pointers(arguments);
  const std::vector<char*> variable_pointers = pointers(variables);
  // Orphans of a browser become our children: they can be found and reaped on any system.
  prctl(PR_SET_CHILD_SUBREAPER, 1);

  // Our own limit (resource_limits.hpp) is not the child's: a browser reserves much more than it takes.
  rlimit memory{};
  getrlimit(RLIMIT_DATA, &memory);
  memory.rlim_cur = memory.rlim_max;

  int output = -1;
  if (!spec.output.empty()) {
    output = open(spec.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (output < 0) return io_error("cannot write '" + spec.output.string() + "': " + std::strerror(errno));
  }
  std::array<int, 2> report{-1, -1};
  if (pipe2(report.data(), O_CLOEXEC) != 0) {
    if (output >= 0) close(output);
    return io_error(std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  auto id = CleanupRegistry::instance().add([&]() -> Result<CleanupRegistry::Undo> {
    const pid_t parent = getpid();
    Leaders& leaders = Leaders::instance();
    const std::lock_guard lock(leaders.mutex);
    const pid_t pid = fork();
    if (pid < 0) return io_error("cannot start '" + program.string() + "': " + std::strerror(errno));
    if (pid == 0)
      become(program.c_str(), argument_pointers.data(), variable_pointers.data(), output,
             spec.errors_too ? output : -1, spec.pass_fd, spec.passed_as, report[1], parent, memory);
    leaders.pids.insert(pid);
    state->mark.leader = pid;
    return CleanupRegistry::Undo([mark = state->mark] { end_and_reap(mark, 300); });
  });
  close(report[1]);
  if (output >= 0) close(output);
  int failure = 0;
  const bool failed = read(report[0], &failure, sizeof(failure)) == sizeof(failure);
  close(report[0]);
  if (!id.ok()) return std::move(id).error();
  state->cleanup = *id;
  ChildProcess child(std::move(state));
  if (failed) {
    child.end(0);
    return io_error("cannot start '" + program.string() + "': " + std::strerror(failure));
  }
  return child;
}

ChildProcess::ChildProcess(std::unique_ptr<State> state) : state_(std::move(state)) {}
ChildProcess::ChildProcess(ChildProcess&&) noexcept = default;

ChildProcess::~ChildProcess() {
  if (state_) end();
}

const ProcessMark& ChildProcess::mark() const { return state_->mark; }

bool ChildProcess::running() const {
  if (state_->ended) return false;
  state_->last = peek(state_->mark.leader);
  return state_->last.si_pid == 0;
}

std::string ChildProcess::exit_text() const {
  if (running()) return {};
  const int status = state_->last.si_status;
  if (state_->last.si_code == CLD_EXITED) return "exit status " + std::to_string(status);
  return "killed by signal " + std::to_string(status) + " (" + strsignal(status) + ")";
}

bool ChildProcess::exited_well() const {
  return !running() && state_->last.si_code == CLD_EXITED && state_->last.si_status == 0;
}

std::optional<int> ChildProcess::exit_code() const {
  if (running() || state_->last.si_code != CLD_EXITED) return {};
  return state_->last.si_status;
}

void ChildProcess::end(int grace_ms) {
  if (!state_ || state_->ended) return;
  state_->last = end_and_reap(state_->mark, grace_ms);
  state_->ended = true;
  CleanupRegistry::instance().remove(state_->cleanup);
}

}  // namespace driftscope
