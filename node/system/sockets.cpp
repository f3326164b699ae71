// The system calls on connections, answered by node:net on the main thread (sockets.mjs): of IPv4 and
// streams, what httplib and the lines to processes need. A call that must wait waits here.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "node/system/system.hpp"

namespace node = driftscope::node;

namespace {

struct Address {
  std::array<char, INET_ADDRSTRLEN> text{};
  int port = 0;
};

bool read_address(intptr_t from, Address& address) {
  sockaddr_in in{};
  std::memcpy(&in, reinterpret_cast<const void*>(from), sizeof in);
  if (in.sin_family != AF_INET) return false;
  address.port = ntohs(in.sin_port);
  return inet_ntop(AF_INET, &in.sin_addr, address.text.data(), address.text.size()) != nullptr;
}

int write_address(int fd, bool other_end, intptr_t to, intptr_t size) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int port = ds_socket_address(fd, other_end ? 1 : 0, text.data(), text.size());
  if (port < 0) return port;
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(static_cast<std::uint16_t>(port));
  if (inet_pton(AF_INET, text.data(), &in.sin_addr) != 1) in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* length = reinterpret_cast<socklen_t*>(size);
  std::memcpy(reinterpret_cast<void*>(to), &in, std::min<std::size_t>(*length, sizeof in));
  *length = sizeof in;
  return 0;
}

int poll_now_or_later(pollfd* files, int count, double milliseconds) {
  std::atomic<int> wake = 0;
  const double end = emscripten_get_now() + milliseconds;
  while (true) {
    wake = 0;
    const int ready = ds_socket_poll(files, count, milliseconds > 0 ? &wake : nullptr);
    if (ready != 0 || milliseconds <= 0) return ready;
    const double left = end - emscripten_get_now();
    if (left > 0) node::wait_for(wake, left);
    ds_socket_forget(&wake);
    if (emscripten_get_now() >= end) return ds_socket_poll(files, count, nullptr);
  }
}

int wait_ready(int fd, short events) {
  pollfd wanted{fd, events, 0};
  return poll_now_or_later(&wanted, 1, INFINITY);
}

}  // namespace

extern "C" {

int __syscall_socket(int domain, int type, int /*protocol*/, int, int, int) {
  constexpr int kinds = SOCK_STREAM | SOCK_DGRAM | SOCK_RAW;
  if (domain != AF_INET && domain != AF_UNIX) return -EAFNOSUPPORT;
  if ((type & kinds) != SOCK_STREAM) return -EPROTONOSUPPORT;
  return ds_socket_open();
}

int __syscall_socketpair(int /*domain*/, int /*type*/, int /*protocol*/, intptr_t two, int, int) {
  return ds_socket_pair(reinterpret_cast<int*>(two));
}

// A pipe is a pair of which each end goes one way.
int __syscall_pipe2(intptr_t two, int /*flags*/) { return ds_socket_pair(reinterpret_cast<int*>(two)); }
int __syscall_pipe(intptr_t two) { return ds_socket_pair(reinterpret_cast<int*>(two)); }

int __syscall_bind(int fd, intptr_t address, size_t /*size*/, int, int, int) {
  Address wanted;
  if (!read_address(address, wanted)) return -EAFNOSUPPORT;
  return ds_socket_bind(fd, wanted.text.data(), wanted.port);
}

int __syscall_listen(int fd, int /*backlog*/, int, int, int, int) {
  return node::wait_until_done([fd](std::atomic<int>* wake) { ds_socket_listen(fd, wake); });
}

int __syscall_connect(int fd, intptr_t address, size_t /*size*/, int, int, int) {
  Address wanted;
  if (!read_address(address, wanted)) return -EAFNOSUPPORT;
  return node::wait_until_done(
      [&](std::atomic<int>* wake) { ds_socket_connect(fd, wanted.text.data(), wanted.port, wake); });
}

int __syscall_accept4(int fd, intptr_t address, intptr_t size, int /*flags*/, int, int) {
  while (true) {
    const int accepted = ds_socket_accept(fd);
    if (accepted != -EAGAIN) {
      if (accepted >= 0 && address != 0) write_address(accepted, true, address, size);
      return accepted;
    }
    wait_ready(fd, POLLIN);
  }
}

int __syscall_recvfrom(int fd, intptr_t bytes, size_t size, int flags, intptr_t, intptr_t) {
  while (true) {
    const int got =
        ds_socket_receive(fd, reinterpret_cast<std::byte*>(bytes), size, (flags & MSG_PEEK) != 0 ? 1 : 0);
    if (got != -EAGAIN || (flags & MSG_DONTWAIT) != 0) return got;
    wait_ready(fd, POLLIN);
  }
}

int __syscall_sendto(int fd, intptr_t bytes, size_t size, int flags, intptr_t, size_t) {
  while (true) {
    const int sent = ds_socket_send(fd, reinterpret_cast<const std::byte*>(bytes), size);
    if (sent != -EAGAIN || (flags & MSG_DONTWAIT) != 0) return sent;
    wait_ready(fd, POLLOUT);
  }
}

int __syscall_shutdown(int fd, int how, int, int, int, int) { return ds_socket_shutdown(fd, how); }
int __syscall_getsockname(int fd, intptr_t address, intptr_t size, int, int, int) {
  return write_address(fd, false, address, size);
}
int __syscall_getpeername(int fd, intptr_t address, intptr_t size, int, int, int) {
  return write_address(fd, true, address, size);
}

// Node sets what matters itself: no delay, an address that can be used again.
int __syscall_setsockopt(int /*fd*/, int /*level*/, int /*name*/, intptr_t, size_t, int) { return 0; }
int __syscall_getsockopt(int /*fd*/, int level, int name, intptr_t value, intptr_t size, int) {
  if (level != SOL_SOCKET || name != SO_ERROR) return -ENOPROTOOPT;
  *reinterpret_cast<int*>(value) = 0;
  *reinterpret_cast<socklen_t*>(size) = sizeof(int);
  return 0;
}

int __syscall_poll(intptr_t files, int count, int milliseconds) {
  return poll_now_or_later(reinterpret_cast<pollfd*>(files), count,
                           milliseconds < 0 ? static_cast<double>(INFINITY) : milliseconds);
}

}  // extern "C"
