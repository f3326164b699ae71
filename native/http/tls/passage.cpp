#include "native/http/tls/passage.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "native/http/front_source.hpp"

namespace driftscope {
namespace {

using std::chrono::milliseconds;

constexpr int rounds_at_once = 8;  // then it is another connection's turn

bool would_wait() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

std::byte* Passage::Buffer::space() {
  if (begin_ > 0) {
    std::memmove(bytes_.data(), data(), size());
    end_ -= begin_;
    begin_ = 0;
  }
  return bytes_.data() + end_;
}

void Passage::Buffer::take(std::size_t count) {
  begin_ += count;
  if (begin_ == end_) clear();
}

Passage::Passage(FileDescriptor outside, tls::Session session, std::uint32_t address, int to_port,
                 const PassageLimits& limits, Time now)
    : outside_(std::move(outside)),
      session_(std::move(session)),
      address_(address),
      to_port_(to_port),
      limits_(limits),
      reading_waits_(POLLIN),
      begun_(now),
      last_(now),
      farewell_(now) {
  if (SSL_set_fd(session_.get(), outside_.get()) != 1) stage_ = Stage::over;
}

bool Passage::over(Time now) const {
  if (stage_ == Stage::over) return true;
  if (stage_ == Stage::farewell) return now - farewell_ > limits_.farewell;
  if (inside_.get() < 0 && now - begun_ > limits_.first_bytes) return true;
  return now - last_ > limits_.idle ||
         now - begun_ > limits_.whole + milliseconds(moved_ * 1000 / limits_.rate);
}

Passage::Wanted Passage::outside() const {
  short events = 0;
  if (stage_ == Stage::handshake) events = reading_waits_;
  if (stage_ == Stage::farewell) events = POLLIN;
  if (stage_ == Stage::open) {
    if (!outside_ended_ && !in_.full()) events = static_cast<short>(events | reading_waits_);
    if (!out_.empty() || inside_ended_) events = static_cast<short>(events | writing_waits_);
  }
  return {outside_.get(), events};
}

Passage::Wanted Passage::inside() const {
  if (stage_ != Stage::open) return {};
  short events = 0;
  if (!inside_ended_ && !out_.full()) events = POLLIN;
  if (!in_.empty()) events = static_cast<short>(events | POLLOUT);
  // Without events poll would still say at once, again and again, that the server has closed.
  return {events == 0 ? -1 : inside_.get(), events};
}

// Both directions are closed, or it was reset. Nobody would notice while nothing is read or written.
void Passage::seen_outside(short events) {
  if ((events & (POLLERR | POLLHUP)) != 0) stage_ = Stage::over;
}

void Passage::wait_for(int result, short& waits) {
  switch (SSL_get_error(session_.get(), result)) {
    case SSL_ERROR_WANT_READ: waits = POLLIN; break;
    case SSL_ERROR_WANT_WRITE: waits = POLLOUT; break;
    // It says that it sends no more, but may still read.
    case SSL_ERROR_ZERO_RETURN: outside_ended_ = true; break;
    // It speaks no TLS, or is gone.
    default: stage_ = Stage::over;
  }
}

bool Passage::shake_hands() {
  ERR_clear_error();
  const int done = SSL_accept(session_.get());
  if (done != 1) {
    wait_for(done, reading_waits_);
    if (outside_ended_) stage_ = Stage::over;
    return false;
  }
  reading_waits_ = POLLIN;
  stage_ = Stage::open;
  return true;
}

bool Passage::read_outside() {
  if (outside_ended_ || in_.full()) return false;
  ERR_clear_error();
  std::byte* const space = in_.space();
  std::size_t count = 0;
  const int done = SSL_read_ex(session_.get(), space, in_.room(), &count);
  if (done != 1) return wait_for(done, reading_waits_), false;
  reading_waits_ = POLLIN;
  in_.add(count);
  return true;
}

bool Passage::write_outside() {
  if (out_.empty()) return false;
  ERR_clear_error();
  std::size_t count = 0;
  const int done = SSL_write_ex(session_.get(), out_.data(), out_.size(), &count);
  if (done != 1) {
    wait_for(done, writing_waits_);
    return false;
  }
  writing_waits_ = 0;
  out_.take(count);
  moved_ += count;
  return true;
}

bool Passage::connect_inside() {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_in from{};
  from.sin_family = AF_INET;
  from.sin_addr.s_addr = htonl(front_source);
  sockaddr_in to = from;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<std::uint16_t>(to_port_));
  // The port is chosen when it is known whom it is for.
  const int later = 1;
  setsockopt(socket.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &later, sizeof(later));
  if (socket.get() < 0 || ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&from), sizeof(from)) != 0 ||
      (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0 &&
       errno != EINPROGRESS))
    return false;
  inside_ = std::move(socket);
  return true;
}

bool Passage::write_inside() {
  if (inside_.get() < 0 && !in_.empty() && !connect_inside()) {
    stage_ = Stage::over;
    return false;
  }
  bool moved = false;
  if (!in_.empty()) {
    const ssize_t sent = ::send(inside_.get(), in_.data(), in_.size(), MSG_NOSIGNAL);
    if (sent < 0 && would_wait()) return false;
    moved = sent > 0;
    if (moved) {
      in_.take(static_cast<std::size_t>(sent));
      moved_ += static_cast<std::size_t>(sent);
    } else {
      // The server reads no more: it may have answered before, which is still to be passed on.
      in_.clear();
      outside_ended_ = told_inside_ = true;
    }
  }
  if (outside_ended_ && in_.empty() && !std::exchange(told_inside_, true)) {
    // Who closes without a word has asked for nothing.
    if (inside_.get() < 0)
      stage_ = Stage::over;
    else
      ::shutdown(inside_.get(), SHUT_WR);
  }
  return moved;
}

bool Passage::read_inside() {
  if (inside_.get() < 0 || inside_ended_ || out_.full()) return false;
  std::byte* const space = out_.space();
  const ssize_t got = ::recv(inside_.get(), space, out_.room(), 0);
  if (got < 0 && would_wait()) return false;
  if (got <= 0) {  // also where it was reset: the length in the answer's head tells whether it is whole
    inside_ended_ = true;
    return true;
  }
  out_.add(static_cast<std::size_t>(got));
  return true;
}

// TLS tells the other end that this is all; then the connection is closed when it closes, since closing it
// with bytes unread would take back what was sent last.
void Passage::say_farewell(Time now) {
  ERR_clear_error();
  const int done = SSL_shutdown(session_.get());
  if (done < 0) {
    wait_for(done, writing_waits_);
    // Reading for it is what the farewell does.
    if (stage_ == Stage::over || writing_waits_ == POLLOUT) return;
  }
  ::shutdown(outside_.get(), SHUT_WR);
  stage_ = Stage::farewell;
  farewell_ = now;
}

void Passage::drain_outside() {
  std::array<std::byte, 16 * 1024> unread;
  for (int round = 0; round < rounds_at_once; ++round) {
    const ssize_t got = ::recv(outside_.get(), unread.data(), unread.size(), 0);
    if (got < 0 && would_wait()) return;
    if (got <= 0) {
      stage_ = Stage::over;
      return;
    }
  }
}

bool Passage::move(Time now) {
  const bool read = read_outside();
  const bool in = stage_ == Stage::open && write_inside();
  const bool answered = stage_ == Stage::open && read_inside();
  const bool out = stage_ == Stage::open && write_outside();
  if (stage_ == Stage::open && inside_ended_ && out_.empty()) say_farewell(now);
  const bool moved = read || in || answered || out;
  if (moved) last_ = now;
  return moved;
}

bool Passage::step(Time now) {
  if (stage_ == Stage::handshake && !shake_hands()) return false;
  for (int round = 0; stage_ == Stage::open && round < rounds_at_once; ++round)
    if (!move(now)) return false;
  if (stage_ == Stage::farewell) drain_outside();
  return stage_ == Stage::open;
}

}  // namespace driftscope
