#include "native/os/node_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "native/os/cleanup.hpp"
#include "native/os/log_tail.hpp"

namespace driftscope {
namespace {

constexpr int glance_ms = 100;  // between two looks at whether the program is to end

}  // namespace

Result<std::unique_ptr<NodeProcess>> NodeProcess::start(const std::filesystem::path& program,
                                                        const std::filesystem::path& script,
                                                        const std::vector<std::string>& arguments,
                                                        std::string title) {
  DRIFTSCOPE_TRY(TempFolder folder, TempFolder::make());
  std::unique_ptr<NodeProcess> node(new NodeProcess(std::move(folder), std::move(title)));
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return io_error(fmt::format("cannot make a socket for {}: {}", node->title_, std::strerror(errno)));
  node->socket_ = ends[0];
  ProcessSpec spec;
  spec.arguments = {program.string(), script.string()};
  spec.arguments.insert(spec.arguments.end(), arguments.begin(), arguments.end());
  spec.environment = {{"NODE_OPTIONS", ""}};
  spec.output = node->folder_.path() / "node.log";
  spec.pass_fd = ends[1];
  spec.passed_as = 3;
  auto process = ChildProcess::start(spec);
  close(ends[1]);
  if (!process.ok()) return std::move(process).error();
  node->process_.emplace(*std::move(process));
  return node;
}

void NodeProcess::end() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  if (process_) process_->end(200);
}

Error NodeProcess::failed(const std::string& how) {
  Error error = missing_error(fmt::format("{}: its Node process {}; its last output: {}", title_, how,
                                          log_tail(folder_.path() / "node.log")));
  end();
  return error;
}

Error NodeProcess::gone() {
  const bool ended = process_ && process_->wait(500);
  return failed(ended ? fmt::format("ended ({})", process_->exit_text()) : "closed its connection");
}

Status NodeProcess::write_all(std::span<const std::byte> bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t done = ::send(socket_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return gone();
    at += static_cast<std::size_t>(done);
  }
  return {};
}

Status NodeProcess::read_all(std::span<std::byte> bytes, std::optional<std::chrono::milliseconds> patience) {
  auto last = std::chrono::steady_clock::now();
  for (std::size_t at = 0; at < bytes.size();) {
    if (patience && !has_arrived(glance_ms)) {
      if (CleanupRegistry::instance().closed()) return Error{ErrorKind::cancelled, "stopped"};
      if (std::chrono::steady_clock::now() - last <= *patience) continue;
      return failed(fmt::format("did not answer for {:.1f} s and was ended; --stall-timeout allows more",
                                std::chrono::duration<double>(*patience).count()));
    }
    const ssize_t done = recv(socket_, bytes.data() + at, bytes.size() - at, 0);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return gone();
    at += static_cast<std::size_t>(done);
    last = std::chrono::steady_clock::now();
  }
  return {};
}

bool NodeProcess::has_arrived(int milliseconds) const {
  pollfd waited{socket_, POLLIN, 0};
  return ::poll(&waited, 1, milliseconds) > 0;
}

std::int64_t NodeProcess::memory() const { return total_pss(find_processes(process_->mark(), false)); }

}  // namespace driftscope
