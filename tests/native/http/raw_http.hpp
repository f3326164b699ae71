// Requests written byte by byte, so that a test can send what no client library would.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "native/http/server.hpp"
#include "native/os/temp_folder.hpp"

namespace driftscope::testing {

/// Sends `text` to 127.0.0.1:port and reads until the server closes. Empty if it cannot connect.
inline std::string send_raw(int port, const std::string& text) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string reply;
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) {
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t count = send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) break;
      sent += static_cast<std::size_t>(count);
    }
    char buffer[4096];
    for (ssize_t count = 0; (count = recv(fd, buffer, sizeof(buffer), 0)) > 0;)
      reply.append(buffer, static_cast<std::size_t>(count));
  }
  close(fd);
  return reply;
}

inline int status_of(const std::string& reply) {
  return reply.size() > 12 ? std::atoi(reply.c_str() + 9) : 0;
}

inline std::string body_of(const std::string& reply) {
  const auto end = reply.find("\r\n\r\n");
  return end == std::string::npos ? std::string() : reply.substr(end + 4);
}

/// A server on a small site of its own.
struct TestSite {
  explicit TestSite(ServerOptions options = {}) {
    auto made = TempFolder::make();
    folder = std::make_unique<TempFolder>(*std::move(made));
    site = folder->path() / "site";
    std::filesystem::create_directories(site / "web");
    write("site/index.html", "<p>the page</p>");
    write("site/web/page.mjs", "export {};");
    write("secret.txt", "secret");
    options.site = site;
    auto started = Server::start(std::move(options));
    server = *std::move(started);
    token = server->url().substr(server->url().find('/', 8));  // "/TOKEN/"
    token.pop_back();
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder->path() / name) << text;
  }

  [[nodiscard]] std::string host() const { return "127.0.0.1:" + std::to_string(server->port()); }

  [[nodiscard]] std::string request(const std::string& method, const std::string& path,
                                    const std::string& headers = "", const std::string& body = "") const {
    std::string text = method + " " + path + " HTTP/1.1\r\nHost: " + host() + "\r\n" + headers;
    if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    return send_raw(server->port(), text + "\r\n" + body);
  }
  [[nodiscard]] std::string get(const std::string& below, const std::string& headers = "") const {
    return request("GET", token + below, headers);
  }
  [[nodiscard]] std::string post(const std::string& below, const std::string& body) const {
    return request("POST", token + below, "Content-Type: application/octet-stream\r\n", body);
  }

  std::unique_ptr<TempFolder> folder;
  std::filesystem::path site;
  std::unique_ptr<Server> server;
  std::string token;
};

inline std::shared_ptr<const Bytes> bytes_of(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return std::make_shared<const Bytes>(begin, begin + text.size());
}

}  // namespace driftscope::testing
