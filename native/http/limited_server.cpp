#include "native/http/limited_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "native/os/peer_user.hpp"

namespace driftscope {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr milliseconds stop_poll{50};  // how soon a waiting connection notices a stop

// Set while a connection is only to be closed: httplib hands it over inside a function.
thread_local bool too_many = false;

/// Threads, and a bound on what waits for one.
class BoundedQueue final : public httplib::TaskQueue {
 public:
  BoundedQueue(std::size_t threads, std::size_t waiting) : waiting_limit_(waiting) {
    // Where the system gives no more of them, fewer must suffice: httplib's own pool would end the program.
    while (threads_.size() < threads && start_thread()) {
    }
  }
  ~BoundedQueue() override { shutdown(); }

  // Newer versions of httplib return whether it was taken.
  using Taken = decltype(std::declval<httplib::TaskQueue&>().enqueue(nullptr));
  Taken enqueue(std::function<void()> work) override { return static_cast<Taken>(take(std::move(work))); }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    ready_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  bool start_thread() {
    try {
      threads_.emplace_back([this] { serve(); });
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }

  bool take(std::function<void()> work) {
    if (threads_.empty()) return work(), true;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.size() < waiting_limit_) {
        waiting_.push_back(std::move(work));
        ready_.notify_one();
        return true;
      }
    }
    too_many = true;
    work();
    too_many = false;
    return true;
  }

  void serve() {
    while (true) {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      const std::function<void()> work = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      work();
    }
  }

  const std::size_t waiting_limit_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::function<void()>> waiting_;  // guarded by mutex_
  bool stopping_ = false;                      // guarded by mutex_
  std::vector<std::thread> threads_;
};

/// A connection's bytes, within the limits.
class LimitedStream final : public httplib::Stream {
 public:
  LimitedStream(int socket, const ConnectionLimits& limits, const std::atomic<bool>& stopping,
                std::atomic<int>& reading_heads)
      : socket_(socket), limits_(limits), stopping_(stopping), reading_heads_(reading_heads) {
    ++reading_heads_;
  }
  ~LimitedStream() override { end_head(); }
  LimitedStream(const LimitedStream&) = delete;
  LimitedStream& operator=(const LimitedStream&) = delete;

  [[nodiscard]] bool is_readable() const override { return begin_ < end_ || ready(POLLIN, milliseconds(0)); }
  // As httplib's own: it waits, since httplib gives up an answer whose stream is not writable. An answer that
  // is complete when the server stops still leaves, if the other side reads it.
  [[nodiscard]] bool is_writable() const override {
    return wait_for(POLLOUT) || (stopping_.load() && ready(POLLOUT, milliseconds(0)));
  }

  ssize_t read(char* target, std::size_t size) override {
    if (begin_ == end_ && !fill()) return -1;
    const std::size_t count = std::min(size, end_ - begin_);
    std::memcpy(target, buffer_.data() + begin_, count);
    begin_ += count;
    if (in_head_ && !still_head(target, count)) return -1;
    return static_cast<ssize_t>(count);
  }

  ssize_t write(const char* source, std::size_t size) override {
    if (!answering_) {
      answering_ = true;
      since_ = SteadyClock::now();
      moved_ = 0;
    }
    while (true) {
      if (!is_writable()) return -1;
      const ssize_t sent = ::send(socket_, source, size, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (sent > 0) moved_ += static_cast<std::size_t>(sent);
      return sent;
    }
  }

  void get_remote_ip_and_port(std::string& ip, int& port) const override { name(getpeername, ip, port); }
  void get_local_ip_and_port(std::string& ip, int& port) const override { name(getsockname, ip, port); }
  [[nodiscard]] socket_t socket() const override { return socket_; }

 private:
  void name(decltype(getsockname)* ask, std::string& ip, int& port) const {
    sockaddr_in address{};
    socklen_t size = sizeof(address);
    if (ask(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0) return;
    std::array<char, INET_ADDRSTRLEN> text{};
    if (inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size()) != nullptr) ip = text.data();
    port = ntohs(address.sin_port);
  }

  [[nodiscard]] bool ready(short what, milliseconds time) const {
    pollfd wanted{socket_, what, 0};
    return ::poll(&wanted, 1, static_cast<int>(time.count())) > 0;
  }

  [[nodiscard]] milliseconds allowed() const {
    if (!in_head_ || answering_) return limits_.body_time + milliseconds(moved_ * 1000 / limits_.body_rate);
    const bool busy = reading_heads_.load() > static_cast<int>(limits_.threads) / 2;
    return busy ? limits_.head_time_busy : limits_.head_time;
  }

  [[nodiscard]] bool wait_for(short what) const {
    while (!stopping_.load()) {
      if (SteadyClock::now() - since_ > allowed()) return false;
      if (ready(what, stop_poll)) return true;
    }
    return false;
  }

  bool fill() {
    while (wait_for(POLLIN)) {
      const ssize_t got = ::recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got <= 0) return false;
      begin_ = 0;
      end_ = static_cast<std::size_t>(got);
      moved_ += end_;
      return true;
    }
    return false;
  }

  // The head ends with a line that is only CR LF; httplib reads it byte by byte.
  bool still_head(const char* bytes, std::size_t count) {
    head_bytes_ += count;
    for (std::size_t i = 0; i < count; ++i) {
      if (bytes[i] == '\n' && line_ == Line::only_cr) {
        end_head();
        return true;
      }
      if (bytes[i] == '\n')
        line_ = Line::begin;
      else
        line_ = line_ == Line::begin && bytes[i] == '\r' ? Line::only_cr : Line::text;
    }
    return head_bytes_ <= limits_.head_bytes;
  }

  void end_head() {
    if (!in_head_) return;
    in_head_ = false;
    --reading_heads_;
    since_ = SteadyClock::now();
    moved_ = 0;
  }

  enum class Line { text, begin, only_cr };

  const int socket_;
  const ConnectionLimits& limits_;
  const std::atomic<bool>& stopping_;
  std::atomic<int>& reading_heads_;
  std::array<char, 16384> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool in_head_ = true;
  bool answering_ = false;
  Line line_ = Line::text;
  std::size_t head_bytes_ = 0;
  std::size_t moved_ = 0;  // bytes of the body, or of the answer
  SteadyClock::time_point since_ = SteadyClock::now();
};

// A connection that is closed at once has no owner any more: it is useless to us, and a way for other users
// to hide.
bool is_welcome(int socket) {
  const auto user = user_of_peer(socket);
  if (!user) return !knows_users_of_peers();
  return *user == 0 || *user == ::geteuid();
}

}  // namespace

LimitedServer::LimitedServer(ConnectionLimits limits) : limits_(limits) {
  set_keep_alive_max_count(1);
  (void)knows_users_of_peers();  // asked before other users can interfere
  new_task_queue = [this] { return new BoundedQueue(limits_.threads, limits_.waiting); };
}

void LimitedServer::stop_all() {
  stopping_ = true;
  stop();
}

bool LimitedServer::answer(socket_t socket) {
  bool answered = false;
  if (!too_many && is_welcome(socket)) {
    LimitedStream stream(socket, limits_, stopping_, reading_heads_);
    bool closed = false;
    // Versions of httplib differ in whether the addresses are arguments.
    const auto process = [&](auto& self) {
      if constexpr (requires { self.process_request(stream, true, closed, nullptr); }) {
        return self.process_request(stream, true, closed, nullptr);
      } else {
        std::string remote;
        std::string local;
        int remote_port = 0;
        int local_port = 0;
        stream.get_remote_ip_and_port(remote, remote_port);
        stream.get_local_ip_and_port(local, local_port);
        return self.process_request(stream, remote, remote_port, local, local_port, true, closed, nullptr);
      }
    };
    answered = process(*this);
  }
  ::shutdown(socket, SHUT_RDWR);
  ::close(socket);
  return answered;
}

}  // namespace driftscope
