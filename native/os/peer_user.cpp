#include "native/os/peer_user.hpp"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
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

struct Answer {
  bool given = false;  ///< false: for a lack of descriptors, memory or time nothing was answered
  std::optional<uid_t> user;
};

bool is_short_of_something(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM || error == EINTR;
}

// The owner of the socket that has `own` as its address and is connected to `other`; if `other` is 0, of the
// one that listens.
Answer owner_of(const sockaddr_in& own, const sockaddr_in& other) {
  const int fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (fd < 0) return {.given = !is_short_of_something(errno), .user = {}};
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
  question.request.id.idiag_sport = own.sin_port;
  question.request.id.idiag_dport = other.sin_port;
  question.request.id.idiag_src[0] = own.sin_addr.s_addr;
  question.request.id.idiag_dst[0] = other.sin_addr.s_addr;
  question.request.id.idiag_cookie[0] = question.request.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  if (send(fd, &question, sizeof(question), 0) != sizeof(question))
    return {.given = !is_short_of_something(errno), .user = {}};
  alignas(nlmsghdr) std::array<char, 4096> answer{};
  const ssize_t got = recv(fd, answer.data(), answer.size(), 0);
  nlmsghdr header{};
  inet_diag_msg message{};
  if (got < static_cast<ssize_t>(sizeof(header))) return {};
  std::memcpy(&header, answer.data(), sizeof(header));
  if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY || got < static_cast<ssize_t>(NLMSG_HDRLEN + sizeof(message)))
    return {.given = true, .user = {}};
  std::memcpy(&message, answer.data() + NLMSG_HDRLEN, sizeof(message));
  if (message.idiag_inode == 0) return {.given = true, .user = {}};
  return {.given = true, .user = message.idiag_uid};
}

}  // namespace

std::optional<uid_t> user_of_peer(int socket) {
  sockaddr_in ours{};
  sockaddr_in theirs{};
  if (!address_of(socket, getsockname, ours) || !address_of(socket, getpeername, theirs)) return std::nullopt;
  return owner_of(theirs, ours).user;
}

bool knows_users_of_peers() {
  static std::atomic<bool> known = false;
  static std::atomic<bool> unknown = false;
  if (known || unknown) return known;
  // A socket of our own that nobody needs to connect to. Other users may cause failures here.
  const Closing listening{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(listening.fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(listening.fd, 1) != 0 || !address_of(listening.fd, getsockname, address))
    return true;
  const Answer answer = owner_of(address, {});
  if (!answer.given) return true;
  known = answer.user.has_value();
  unknown = !known;
  return known;
}

}  // namespace driftscope
