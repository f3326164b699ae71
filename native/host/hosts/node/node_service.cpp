#include "native/host/hosts/node/node_service.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/protocol/service.hpp"
#include "native/os/cleanup.hpp"
#include "native/os/log_tail.hpp"
#include "native/os/resource_limits.hpp"

namespace driftscope::hosts::node {
namespace {

constexpr std::size_t head_bytes = 8;
constexpr std::uint64_t max_message_bytes = std::uint64_t{1} << 36;
constexpr int glance_ms = 100;  // between two looks at whether the user wants to end

}  // namespace

NodeService::~NodeService() {
  if (socket_ >= 0) close(socket_);
  if (process_) process_->end(200);
}

Result<std::unique_ptr<NodeService>> NodeService::start(const NodeServiceSpec& spec) {
  const std::filesystem::path script = spec.site / "web" / "worker" / "node_service.mjs";
  std::error_code error;
  if (!std::filesystem::is_regular_file(script, error))
    return missing_error(fmt::format("the built page lacks {}; build it with 'cmake --build --preset web'",
                                     script.filename().string()));
  DRIFTSCOPE_TRY(TempFolder folder, TempFolder::make());
  std::unique_ptr<NodeService> service(new NodeService(std::move(folder), spec.timeout));
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return io_error(fmt::format("cannot make a socket for Node: {}", std::strerror(errno)));
  service->socket_ = ends[0];
  ProcessSpec process;
  // Node 20 has relaxed SIMD only behind this flag.
  process.arguments = {spec.program.string(),
                       "--experimental-wasm-relaxed-simd",
                       script.string(),
                       spec.site.string(),
                       spec.variant,
                       spec.threads,
                       std::to_string(asked_memory())};
  process.environment = {{"NODE_OPTIONS", ""}};
  process.output = service->folder_.path() / "node.log";
  process.pass_fd = ends[1];
  process.passed_as = 3;
  auto started = ChildProcess::start(process);
  close(ends[1]);
  if (!started.ok()) return std::move(started).error();
  service->process_.emplace(*std::move(started));
  return service;
}

Error NodeService::gone(const std::string& how) {
  Error error = missing_error(
      fmt::format("node: its process {}; its last output: {}", how, log_tail(folder_.path() / "node.log")));
  close(socket_);
  socket_ = -1;
  return error;
}

Status NodeService::write_all(std::span<const std::byte> bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t done = ::send(socket_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return gone(process_->wait(500) ? "ended (" + process_->exit_text() + ")" : "hung up");
    at += static_cast<std::size_t>(done);
  }
  return {};
}

Status NodeService::read_all(std::span<std::byte> bytes) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t at = 0; at < bytes.size();) {
    pollfd waited{socket_, POLLIN, 0};
    if (::poll(&waited, 1, glance_ms) <= 0) {
      if (CleanupRegistry::instance().closed()) return Error{ErrorKind::cancelled, "stopped"};
      if (std::chrono::steady_clock::now() - begin > timeout_)
        return gone(fmt::format("did not answer for {:.1f} s; --timeout allows more",
                                std::chrono::duration<double>(timeout_).count()));
      continue;
    }
    const ssize_t done = recv(socket_, bytes.data() + at, bytes.size() - at, 0);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return gone(process_->wait(500) ? "ended (" + process_->exit_text() + ")" : "hung up");
    at += static_cast<std::size_t>(done);
  }
  return {};
}

Result<ServiceTransport::Response> NodeService::exchange(const std::string& json,
                                                         std::span<const std::byte> payload) {
  if (socket_ < 0) return missing_error("node: its process has ended");
  const std::vector<std::byte> message = pack_message(json, payload);
  const std::uint64_t size = message.size();
  std::array<std::byte, head_bytes> head{};
  for (std::size_t i = 0; i < head_bytes; ++i) head[i] = static_cast<std::byte>(size >> (8 * i));
  DRIFTSCOPE_CHECK(write_all(head));
  DRIFTSCOPE_CHECK(write_all(message));
  DRIFTSCOPE_CHECK(read_all(head));
  std::uint64_t answer_bytes = 0;
  for (std::size_t i = 0; i < head_bytes; ++i) answer_bytes |= static_cast<std::uint64_t>(head[i]) << (8 * i);
  if (answer_bytes > max_message_bytes) return gone("sent no message");
  std::vector<std::byte> answer(answer_bytes);
  DRIFTSCOPE_CHECK(read_all(answer));
  Message unpacked = unpack_message(answer);
  return Response{std::move(unpacked.json), {unpacked.payload.begin(), unpacked.payload.end()}};
}

std::int64_t NodeService::memory() const { return total_pss(find_processes(process_->mark(), false)); }

}  // namespace driftscope::hosts::node
