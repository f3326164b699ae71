#include "native/http/loopback.hpp"

#include <sys/socket.h>

#include <chrono>

#include "native/http/front_source.hpp"

namespace driftscope {
namespace {

constexpr const char* loopback = "127.0.0.1";
// httplib's library has 5: of more connections at the same moment, the others come a second later.
constexpr int backlog = 256;

}  // namespace

std::vector<std::string> headers_of(const httplib::Request& request, const char* name) {
  std::vector<std::string> values;
  const auto [begin, end] = request.headers.equal_range(name);
  for (auto header = begin; header != end; ++header) values.push_back(header->second);
  return values;
}

RequestFacts facts_of(const httplib::Request& request) {
  RequestFacts facts;
  facts.path = request.path;
  facts.hosts = headers_of(request, "Host");
  facts.origins = headers_of(request, "Origin");
  facts.through_front = request.remote_addr == front_source_text;
  facts.has_content_encoding = request.has_header("Content-Encoding");
  facts.is_form = request.is_multipart_form_data();
  facts.body_without_length = request.method == "POST" && !request.has_header("Content-Length") &&
                              !request.has_header("Transfer-Encoding");
  for (const auto& [name, value] : request.headers) facts.header_bytes += name.size() + value.size() + 4;
  return facts;
}

Result<int> bind_to_loopback(LimitedServer& http, int port) {
  // httplib's own options would let two servers share one port (SO_REUSEPORT).
  int listening = -1;
  http.set_socket_options([&listening](auto socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    listening = socket;
  });
  http.set_address_family(AF_INET);
  if (port == 0) {
    const int chosen = http.bind_to_any_port(loopback);
    if (chosen <= 0) return io_error("cannot listen on 127.0.0.1: no free port");
    ::listen(listening, backlog);
    return chosen;
  }
  if (!http.bind_to_port(loopback, port))
    return io_error("cannot listen on 127.0.0.1:" + std::to_string(port) +
                    ": the port is in use or not allowed; choose another with --port, or 0 for "
                    "any free one");
  ::listen(listening, backlog);
  return port;
}

Result<std::thread> listen_on_thread(LimitedServer& http) {
  std::thread thread([&http] { http.listen_after_bind(); });
  for (int waited_ms = 0; waited_ms < 5000; ++waited_ms) {
    if (http.is_running()) return thread;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  http.stop_all();
  thread.join();
  return io_error("the server on " + std::string(loopback) + " did not start");
}

}  // namespace driftscope
