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
#include "native/http/hub_front.hpp"
#include "native/http/pc_runs.hpp"
#include "native/http/server.hpp"
#include "native/http/wall_folder.hpp"
#include "native/os/desktop.hpp"
#include "native/os/files.hpp"
#include "native/os/folders.hpp"
#include "native/os/free_memory.hpp"
#include "native/os/signal_watcher.hpp"
#include "native/platform/state_folder.hpp"

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

/// Stored comparisons; null where none are shown. A folder that cannot be listed is an error at once.
Result<std::unique_ptr<WallFolder>> open_wall(const ServeOptions& options) {
  if (options.results.empty()) return std::unique_ptr<WallFolder>();
  auto wall = std::make_unique<WallFolder>(options.results);
  DRIFTSCOPE_TRY(const auto first, wall->read());
  if (options.say && !first->skipped.empty())
    options.say(std::to_string(first->skipped.size()) + " files of --results are not shown: wall/ says why");
  return wall;
}

/// What other machines connect to; null where they shall not.
Result<std::unique_ptr<HubFront>> open_front(const ServeOptions& options) {
  if (options.listen.empty()) return std::unique_ptr<HubFront>();
  return HubFront::open(
      {.listen = options.listen, .certificate = state_folder() / "hub-tls.pem", .say = options.say});
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
  DRIFTSCOPE_TRY(const std::unique_ptr<WallFolder> wall, open_wall(options));
  std::unique_ptr<Hub> hub;
  std::unique_ptr<HubFront> front;
  if (options.hub) {
    DRIFTSCOPE_CHECK(check_no_other_hub());
    DRIFTSCOPE_TRY(hub, Hub::open({.keys = hub_keys_file(), .say = options.say}));
    DRIFTSCOPE_TRY(front, open_front(options));
  }
  StopFlag stop;
  SignalWatcher::on_stop([&stop] { stop.set(); });
  ServerOptions server_options;
  server_options.site = options.site;
  server_options.port = options.port;
  server_options.pc_targets = pc_targets();
  server_options.one_visit = options.open;
  server_options.hub = hub.get();
  server_options.wall = wall.get();
  server_options.public_origin = options.public_origin;
  if (front) server_options.front_origins = front->origins();
  if (front) server_options.fingerprint = front->fingerprint();
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
  if (options.say && wall) options.say("results: " + (*server)->url() + "wall/");
  if (options.open) {
    // The desktop's opener passes the URL on and exits; the browser is the user's own.
    const auto opened = open_with_desktop((*server)->visit_url());
    if (!opened.ok() && options.say) options.say(opened.error().message);
  }
  Status announced;
  if (front) announced = front->start((*server)->port());
  if (hub && announced.ok()) announced = announce(**server, *hub, options);
  if (announced.ok()) stop.wait();
  std::error_code gone;
  if (hub) fs::remove(hub_file(), gone);
  front.reset();  // before the server that it passes on to
  SignalWatcher::on_stop(nullptr);
  return announced;
}

}  // namespace driftscope
