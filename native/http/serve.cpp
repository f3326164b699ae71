#include "native/http/serve.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <spawn.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <cstring>
#include <ctime>
#include <mutex>

#include "core/trace/trace_file.hpp"
#include "native/http/pc_runs.hpp"
#include "native/http/server.hpp"
#include "native/os/child_process.hpp"
#include "native/os/cleanup.hpp"
#include "native/os/files.hpp"
#include "native/os/folders.hpp"

namespace driftscope {
namespace {

namespace fs = std::filesystem;

// "chrome/strict:threads=2" as part of a file name; the target is untrusted.
std::string file_name_part(const std::string& target) {
  std::string name;
  for (const char c : target.substr(0, 60)) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '=' || c == '-';
    name += plain ? c : '_';
  }
  return name.empty() ? "trace" : name;
}

std::string local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &parts)};
}

Result<std::string> save_trace(const fs::path& folder, const Bytes& bytes) {
  DRIFTSCOPE_TRY(const Trace trace, read_trace(bytes));
  DRIFTSCOPE_CHECK(make_folders(folder));
  const std::string stem = local_time() + "-" + file_name_part(trace.target);
  fs::path file = folder / (stem + ".safetensors");
  std::error_code error;
  for (int count = 2; fs::exists(file, error); ++count)
    file = folder / (stem + "-" + std::to_string(count) + ".safetensors");
  DRIFTSCOPE_CHECK(write_file(file, bytes));
  return file.string();
}

// Passes the URL to the desktop. The started program is the user's own and is left alone.
Status open_with_desktop(const std::string& url) {
  const fs::path opener = find_program("xdg-open");
  if (opener.empty()) return missing_error("--open needs xdg-open (package xdg-utils); open the URL by hand");
  std::string program = opener.string();
  std::string argument = url;
  char* const arguments[] = {program.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const int fd : {0, 1, 2}) posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, program.c_str(), &files, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) return io_error("cannot start xdg-open: " + std::string(std::strerror(error)));
  return {};
}

// Stops once, from any thread, however early.
class StopFlag {
 public:
  void set() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
};

}  // namespace

Status serve(const ServeOptions& options) {
  // Any of the threads that answer may run a model, and glibc keeps what each of its arenas has once held.
  mallopt(M_ARENA_MAX, 2);
  StopFlag stop;
  SignalWatcher::on_stop([&stop] { stop.set(); });
  ServerOptions server_options;
  server_options.site = options.site;
  server_options.port = options.port;
  server_options.pc_targets = pc_targets();
  server_options.one_visit = options.open;
  server_options.on_trace = [&options](const Bytes& bytes) -> Result<std::string> {
    DRIFTSCOPE_TRY(std::string file, save_trace(options.traces, bytes));
    if (options.say) options.say("trace received: " + file);
    return file;
  };
  auto server = Server::start(std::move(server_options));
  if (!server.ok()) {
    SignalWatcher::on_stop(nullptr);
    return std::move(server).error();
  }
  if (options.say) options.say((*server)->url());
  if (options.open) {
    // The desktop's opener passes the URL on and exits; the browser is the user's own.
    const auto opened = open_with_desktop((*server)->visit_url());
    if (!opened.ok() && options.say) options.say(opened.error().message);
  }
  stop.wait();
  SignalWatcher::on_stop(nullptr);
  return {};
}

}  // namespace driftscope
