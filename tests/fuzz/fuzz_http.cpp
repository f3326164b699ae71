// Any bytes as a request to the server's port: {T}, {J} and {P} stand for the token, a job and the port, {D}
// and {C} for a device of its hub and its cookie, {L} for an open link, which nobody can guess. Every answer
// is one of HTTP, and none is an internal error.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "native/http/hub.hpp"
#include "native/http/server.hpp"
#include "native/os/temp_folder.hpp"

namespace {

using namespace driftscope;

std::string read_all(int socket) {
  std::string text;
  char buffer[4096];
  for (ssize_t count = 0; (count = ::recv(socket, buffer, sizeof(buffer), MSG_DONTWAIT)) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));
  return text;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
}

class Subject {
 public:
  Subject() : folder_(*TempFolder::make()) {
    std::ofstream(folder_.path() / "index.html") << "<p>the page</p>";
    std::ofstream(folder_.path() / "page.mjs") << std::string(3000, ' ') << "export {};";
    ServerOptions options;
    options.site = folder_.path();
    options.max_trace_bytes = 1 << 16;
    options.on_trace = [](Bytes) -> Result<std::string> { return std::string("kept"); };
    options.pc_targets = {"pc/strict"};
    auto hub = Hub::open({});
    if (!hub.ok()) std::abort();
    hub_ = *std::move(hub);
    options.hub = hub_.get();
    auto started = Server::start(std::move(options));
    if (!started.ok()) std::abort();
    server_ = *std::move(started);
    const std::string url = server_->url();
    token_ = url.substr(url.size() - 49, 48);
    join();
  }

  std::string answer(std::string text) {
    JobContent content{.description = "{}",
                       .model = std::make_shared<const Bytes>(16),
                       .attachments = {std::make_shared<const Bytes>(5)},
                       .inputs = std::make_shared<const Bytes>(8)};
    content.values = std::make_unique<ValueReceiver>(
        [](const std::string&, const Tensor&) -> Status { return {}; }, 1 << 16);
    const auto job = server_->jobs().add(std::move(content));
    const BoardEntry entry(server_->jobs(), *job);
    entry->long_poll().send("{}");      // so that nobody waits for one
    if (!hub_->knows(device_)) join();  // it has left
    if (!hub_->is_link(link_)) invite();
    (void)hub_->give(device_name_, {.job = entry->id(), .port = server_->port(), .token = token_});
    replace_all(text, "{T}", token_);
    replace_all(text, "{D}", device_);
    replace_all(text, "{C}", cookie_);
    replace_all(text, "{L}", link_);
    replace_all(text, "{J}", entry->id());
    replace_all(text, "{P}", std::to_string(server_->port()));
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return "";
    const int roomy = 1 << 20;  // what is sent and what is answered must both fit: there is one thread
    ::setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &roomy, sizeof(roomy));
    ::setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &roomy, sizeof(roomy));
    const ssize_t sent = ::send(pair[0], text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    ::shutdown(pair[0], SHUT_WR);
    if (sent == static_cast<ssize_t>(text.size()))
      server_->answer(pair[1]);
    else
      ::close(pair[1]);
    std::string reply = read_all(pair[0]);
    ::close(pair[0]);
    return reply;
  }

 private:
  void join() {
    const auto link = hub_->invite();
    if (!link.ok()) std::abort();
    device_ = *link;
    const auto joined = hub_->join(device_, {.name = "phone"});
    if (!joined.ok()) std::abort();
    cookie_ = joined->set_cookie.substr(0, joined->set_cookie.find(';'));
    device_name_ = joined->welcome.name;
  }

  /// A new link, for nobody: whoever used the last one is forgotten.
  void invite() {
    for (const messages::HubDevice& device : hub_->devices())
      if (device.name != device_name_) (void)hub_->remove(device.name);
    const auto link = hub_->invite();
    if (!link.ok()) std::abort();
    link_ = *link;
  }

  TempFolder folder_;
  std::unique_ptr<Hub> hub_;
  std::unique_ptr<Server> server_;
  std::string token_;
  std::string device_;
  std::string device_name_;
  std::string cookie_;
  std::string link_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Subject subject;
  if (size > 60000) return 0;
  const std::string reply = subject.answer({reinterpret_cast<const char*>(data), size});
  if (reply.empty()) return 0;
  if (!reply.starts_with("HTTP/1.1 ") || reply.starts_with("HTTP/1.1 500")) {
    std::fprintf(stderr, "answered: %s\n", reply.substr(0, 300).c_str());
    std::abort();
  }
  return 0;
}
