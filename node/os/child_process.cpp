// Programs that Node starts (node/system/processes.mjs): the leader of a group of its own, as natively.
// What a killed Driftscope leaves behind ends by itself on Linux; elsewhere the next one ends what is in its
// folders.
#include "native/os/child_process.hpp"

#include <string.h>

#include <nlohmann/json.hpp>

#include "core/base/json.hpp"
#include "native/os/cleanup.hpp"
#include "native/os/find_program.hpp"
#include "native/os/process_environment.hpp"
#include "native/os/token.hpp"
#include "node/system/system.hpp"

namespace driftscope {

namespace fs = std::filesystem;

struct ChildProcess::State {
  ProcessMark mark;
  CleanupRegistry::Id cleanup = 0;
  bool ended = false;
  int result = 0;  // of ds_process_state, once it is not 0
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
  nlohmann::json request = {{"arguments", spec.arguments},
                            {"environment", merged_environment(spec, state->mark.marker)},
                            {"errorsToo", spec.errors_too}};
  request["arguments"][0] = program.string();
  if (!spec.output.empty()) request["output"] = spec.output.string();
  if (spec.pass_fd >= 0) {
    request["pass"] = spec.pass_fd;
    request["passedAs"] = spec.passed_as >= 0 ? spec.passed_as : spec.pass_fd;
  }
  const std::string json = json_text(request);
  auto id = CleanupRegistry::instance().add([&]() -> Result<CleanupRegistry::Undo> {
    int pid = 0;
    const int failure =
        node::wait_until_done([&](std::atomic<int>* wake) { ds_process_start(json.c_str(), &pid, wake); });
    if (failure < 0) return io_error("cannot start '" + program.string() + "': " + strerror(-failure));
    state->mark.leader = pid;
    return CleanupRegistry::Undo([mark = state->mark] { end_processes(mark, 300); });
  });
  if (!id.ok()) return std::move(id).error();
  state->cleanup = *id;
  return ChildProcess(std::move(state));
}

ChildProcess::ChildProcess(std::unique_ptr<State> state) : state_(std::move(state)) {}
ChildProcess::ChildProcess(ChildProcess&&) noexcept = default;

ChildProcess::~ChildProcess() {
  if (state_) end();
}

const ProcessMark& ChildProcess::mark() const { return state_->mark; }

bool ChildProcess::running() const {
  if (state_->ended) return false;
  if (state_->result == 0) state_->result = ds_process_state(state_->mark.leader);
  return state_->result == 0;
}

std::string ChildProcess::exit_text() const {
  if (running()) return {};
  if (state_->result > 0) return "exit status " + std::to_string(state_->result - 1);
  return "killed by signal " + std::to_string(-state_->result) + " (" + strsignal(-state_->result) + ")";
}

bool ChildProcess::exited_well() const { return !running() && state_->result == 1; }

std::optional<int> ChildProcess::exit_code() const {
  if (running() || state_->result <= 0) return {};
  return state_->result - 1;
}

void ChildProcess::end(int grace_ms) {
  if (!state_ || state_->ended) return;
  end_processes(state_->mark, grace_ms);
  if (state_->result == 0) state_->result = ds_process_state(state_->mark.leader);
  state_->ended = true;
  CleanupRegistry::instance().remove(state_->cleanup);
}

}  // namespace driftscope
