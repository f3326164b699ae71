// Processes as Node lists them, on each system in its own way (node/system/process_list.mjs).
#include "native/os/process_tree.hpp"

#include "node/system/question.hpp"

namespace driftscope {
namespace {

std::vector<pid_t> pids_of(const nlohmann::json& answer) {
  return answer.is_array() ? answer.get<std::vector<pid_t>>() : std::vector<pid_t>();
}

}  // namespace

std::vector<pid_t> find_processes(const ProcessMark& mark, bool search_environment) {
  return pids_of(node::ask(
      {{"do", "find"}, {"leader", mark.leader}, {"marker", mark.marker}, {"search", search_environment}}));
}

std::vector<pid_t> processes_in(const std::filesystem::path& folder) {
  return pids_of(node::ask({{"do", "inFolder"}, {"folder", folder.string()}}));
}

// Node waits for its children itself.
std::vector<pid_t> ended_children() { return {}; }

std::vector<std::string> command_line_of(pid_t process) {
  const nlohmann::json answer = node::ask({{"do", "commandLine"}, {"pid", process}});
  return answer.is_array() ? answer.get<std::vector<std::string>>() : std::vector<std::string>();
}

std::int64_t total_pss(const std::vector<pid_t>& processes) {
  const nlohmann::json answer = node::ask({{"do", "memory"}, {"pids", processes}});
  return answer.is_number() ? answer.get<std::int64_t>() : 0;
}

bool end_processes(const ProcessMark& mark, int grace_ms) {
  return node::ask({{"do", "end"}, {"leader", mark.leader}, {"marker", mark.marker}, {"grace", grace_ms}}) ==
         true;
}

}  // namespace driftscope
