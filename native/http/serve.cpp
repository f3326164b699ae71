#include "native/http/serve.hpp"

#include <unistd.h>

#include <condition_variable>
#include <ctime>
#include <memory>
#include <mutex>
#include <system_error>

#include "core/base/json.hpp"
#include "core/trace/trace_file.hpp"
#include "native/http/hub.hpp"
#include "native/http/hub_client.hpp"
#include "native/http/pc_runs.hpp"
#include "native/http/server.hpp"
#include "native/os/desktop.hpp"
#include "native/os/files.hpp"
#include "native/os/folders.hpp"
#include "native/os/free_memory.hpp"
#include "native/os/signal_watcher.hpp"

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

// Commands ask one hub.
Status check_no_other_hub() {
  if (hub_file().empty())
    return missing_error("a hub keeps its keys in a folder below HOME, which is not set");
  const auto other = HubClient::find();
  if (!other.ok() || !other->devices().ok()) return {};
  return bad_input("a hub of yours runs already (" + hub_file().string() + "): 'driftscope devices' asks it");
}

/// Tells commands where the hub is, and shows the first link.
Status announce(const Server& server, Hub& hub, const ServeOptions& options) {
  const documents::Hub here{.port = server.port(), .token = server.token(), .process = ::getpid()};
  DRIFTSCOPE_CHECK(make_folders(hub_file().parent_path()));
  DRIFTSCOPE_CHECK(write_private(hub_file(), json_text(encode(here), 1) + "\n"));
  DRIFTSCOPE_TRY(const std::string segment, hub.invite());
  if (options.show_link) options.show_link(server.hub_url(segment), hub.link_life());
  return {};
}

}  // namespace

Status serve(const ServeOptions& options) {
  share_free_memory();
  std::unique_ptr<Hub> hub;
  if (options.hub) {
    DRIFTSCOPE_CHECK(check_no_other_hub());
    DRIFTSCOPE_TRY(hub, Hub::open({.keys = hub_keys_file(), .say = options.say}));
  }
  StopFlag stop;
  SignalWatcher::on_stop([&stop] { stop.set(); });
  ServerOptions server_options;
  server_options.site = options.site;
  server_options.port = options.port;
  server_options.pc_targets = pc_targets();
  server_options.one_visit = options.open;
  server_options.hub = hub.get();
  server_options.public_origin = options.public_origin;
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
  Status announced;
  if (hub) announced = announce(**server, *hub, options);
  if (announced.ok()) stop.wait();
  std::error_code gone;
  if (hub) fs::remove(hub_file(), gone);
  SignalWatcher::on_stop(nullptr);
  return announced;
}

}  // namespace driftscope
