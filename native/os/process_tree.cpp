#include "native/os/process_tree.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <thread>

namespace driftscope {
namespace {

namespace fs = std::filesystem;

struct Entry {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t session = 0;
  char state = '?';
};

std::string read_int(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

// proc(5): "pid (comm) state ppid pgrp session …"; comm may contain anything, even ")".
std::optional<Entry> read_entry(const std::string& name) {
  Entry entry;
  if (std::from_chars(name.data(), name.data() + name.size(), entry.pid).ec != std::errc{})
    return std::nullopt;
  const std::string stat = read_int("/proc/" + name + "/stat");
  const std::size_t close = stat.rfind(')');
  if (close == std::string::npos) return std::nullopt;
  std::istringstream fields(stat.substr(close + 1));
  pid_t group = 0;
  fields >> entry.state >> entry.parent >> group >> entry.session;
  return fields ? std::optional(entry) : std::nullopt;
}

std::vector<Entry> all_processes() {
  std::vector<Entry> all;
  std::error_code error;
  for (const auto& folder : fs::directory_iterator("/proc", error))
    if (const auto entry = read_entry(folder.path().filename().string())) all.push_back(*entry);
  return all;
}

bool carries(pid_t pid, const std::string& marker) {
  const std::string environment = read_int("/proc/" + std::to_string(pid) + "/environ");
  for (std::size_t at = environment.find(marker); at != std::string::npos;
       at = environment.find(marker, at + 1)) {
    if (at == 0 || environment[at - 1] == '\0') return true;
  }
  return false;
}

// Whether `text` holds `name` and then the folder, or something in it.
bool names_folder(const std::string& text, std::string_view name, const std::string& folder) {
  const std::string wanted = std::string(name) + folder;
  for (std::size_t at = text.find(wanted); at != std::string::npos; at = text.find(wanted, at + 1)) {
    const std::size_t end = at + wanted.size();
    const bool whole = end == text.size() || text[end] == '/' || text[end] == '\0' || text[end] == ' ';
    if (whole && (at == 0 || text[at - 1] == '\0' || text[at - 1] == ' ')) return true;
  }
  return false;
}

bool is_mine(pid_t pid) {
  struct stat info{};
  return stat(("/proc/" + std::to_string(pid)).c_str(), &info) == 0 && info.st_uid == geteuid();
}

void signal_all(const ProcessMark& mark, int number) {
  // The group first, all at once; then those that have left it.
  kill(-mark.leader, number);
  for (const pid_t pid : find_processes(mark, true)) kill(pid, number);
}

bool wait_until_gone(const ProcessMark& mark, int milliseconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (!find_processes(mark, true).empty()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace

std::vector<pid_t> find_processes(const ProcessMark& mark, bool search_environment) {
  const std::vector<Entry> all = all_processes();
  std::set<pid_t> members;
  for (const Entry& entry : all) {
    const bool member = entry.pid == mark.leader || entry.session == mark.leader ||
                        (search_environment && carries(entry.pid, mark.marker));
    if (member && entry.pid != getpid()) members.insert(entry.pid);
  }
  // Children of members, until nothing is added: /proc lists them in no useful order.
  for (bool grown = true; grown;) {
    grown = false;
    for (const Entry& entry : all)
      if (members.contains(entry.parent) && members.insert(entry.pid).second) grown = true;
  }
  std::vector<pid_t> living;
  for (const Entry& entry : all)
    if (members.contains(entry.pid) && entry.state != 'Z' && entry.state != 'X') living.push_back(entry.pid);
  return living;
}

std::vector<pid_t> processes_in(const fs::path& folder) {
  std::vector<pid_t> found;
  for (const Entry& entry : all_processes()) {
    if (entry.pid == getpid() || entry.state == 'Z' || !is_mine(entry.pid)) continue;
    const std::string place = "/proc/" + std::to_string(entry.pid);
    // Chromium makes all arguments of its processes one text, and writes it over the environment.
    if (names_folder(read_int(place + "/environ"), "TMPDIR=", folder.string()) ||
        names_folder(read_int(place + "/cmdline"), "--user-data-dir=", folder.string()))
      found.push_back(entry.pid);
  }
  return found;
}

std::vector<pid_t> ended_children() {
  std::vector<pid_t> ended;
  for (const Entry& entry : all_processes())
    if (entry.parent == getpid() && entry.state == 'Z') ended.push_back(entry.pid);
  return ended;
}

std::vector<std::string> command_line_of(pid_t process) {
  const std::string text = read_int("/proc/" + std::to_string(process) + "/cmdline");
  std::vector<std::string> arguments;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    arguments.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return arguments;
}

std::int64_t total_pss(const std::vector<pid_t>& processes) {
  std::int64_t kilobytes = 0;
  for (const pid_t pid : processes) {
    std::ifstream rollup("/proc/" + std::to_string(pid) + "/smaps_rollup");
    for (std::string line; std::getline(rollup, line);) {
      if (!line.starts_with("Pss:")) continue;
      kilobytes += std::strtoll(line.c_str() + 4, nullptr, 10);
      break;
    }
  }
  return kilobytes * 1024;
}

bool end_processes(const ProcessMark& mark, int grace_ms) {
  if (grace_ms > 0) {
    signal_all(mark, SIGTERM);
    if (wait_until_gone(mark, grace_ms)) return true;
  }
  for (int attempt = 0; attempt < 10; ++attempt) {
    signal_all(mark, SIGKILL);
    if (wait_until_gone(mark, 500)) return true;
  }
  return false;
}

}  // namespace driftscope
