#include "native/os/peer_user.hpp"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace driftscope {
namespace {

struct Question {
  nlmsghdr header;
  inet_diag_req_v2 request;
};

struct Closing {
  int fd;
  ~Closing() {
    if (fd >= 0) ::close(fd);
  }
};

bool address_of(int socket, decltype(getsockname)* ask, sockaddr_in& address) {
  socklen_t size = sizeof(address);
  return ask(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0 && size == sizeof(address) &&
         address.sin_family == AF_INET;
}

}  // namespace

std::optional<uid_t> user_of_peer(int socket) {
  sockaddr_in ours{};
  sockaddr_in theirs{};
  if (!address_of(socket, getsockname, ours) || !address_of(socket, getpeername, theirs)) return std::nullopt;
  const int fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (fd < 0) return std::nullopt;
  const Closing closing{fd};
  const timeval patience{1, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  Question question{};
  question.header.nlmsg_len = sizeof(question);
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.request.sdiag_family = AF_INET;
  question.request.sdiag_protocol = IPPROTO_TCP;
  question.request.idiag_states = ~0U;
  // Their socket: its source is our destination.
  question.request.id.idiag_sport = theirs.sin_port;
  question.request.id.idiag_dport = ours.sin_port;
  question.request.id.idiag_src[0] = theirs.sin_addr.s_addr;
  question.request.id.idiag_dst[0] = ours.sin_addr.s_addr;
  question.request.id.idiag_cookie[0] = question.request.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  if (send(fd, &question, sizeof(question), 0) != sizeof(question)) return std::nullopt;
  alignas(nlmsghdr) std::array<char, 4096> answer{};
  const ssize_t got = recv(fd, answer.data(), answer.size(), 0);
  nlmsghdr header{};
  inet_diag_msg message{};
  if (got < static_cast<ssize_t>(NLMSG_HDRLEN + sizeof(message))) return std::nullopt;
  std::memcpy(&header, answer.data(), sizeof(header));
  if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY) return std::nullopt;
  std::memcpy(&message, answer.data() + NLMSG_HDRLEN, sizeof(message));
  if (message.idiag_inode == 0) return std::nullopt;
  return message.idiag_uid;
}

bool knows_users_of_peers() {
  static const bool known = [] {
    const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int ours = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const Closing one{listening};
    const Closing two{ours};
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const at = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listening, at, size) != 0 || ::listen(listening, 1) != 0 ||
        ::getsockname(listening, at, &size) != 0 || ::connect(ours, at, size) != 0)
      return false;
    const Closing accepted{::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC)};
    return user_of_peer(accepted.fd).has_value();
  }();
  return known;
}

}  // namespace driftscope
