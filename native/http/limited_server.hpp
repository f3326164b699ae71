// httplib's server with limits on what a connection may hold before anything is known of it: httplib keeps
// every header it is sent and restarts its timeout for each byte. Client: server.
#pragma once

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <cstddef>

namespace driftscope {

/// Time that a request may take to be sent, and its answer to be received.
struct ConnectionLimits {
  std::size_t head_bytes = 64 * 1024;  ///< request line and headers; beyond it the connection is closed
  std::chrono::milliseconds head_time{5000};      ///< for all of them together
  std::chrono::milliseconds head_time_busy{250};  ///< while many connections have not sent theirs
  std::chrono::milliseconds body_time{30000};     ///< for a body or an answer, and a second more for every
  std::size_t body_rate = 16 * 1024;              ///< so many bytes
  std::size_t threads = 64;                       ///< requests at a time; a page that waits occupies one
  std::size_t waiting = 256;                      ///< connections beyond these; more are closed
};

/// Closes connections of other users of this machine unread (root's excepted). One request per connection:
/// unread bytes of a rejected one are never taken for the next, and no idle connection holds a thread.
class LimitedServer : public httplib::Server {
 public:
  explicit LimitedServer(ConnectionLimits limits = {});
  /// Stops listening and gives up what is being received and sent.
  void stop_all();
  /// Reads a request from a connected socket, answers and closes it. False: no answer was sent.
  bool answer(socket_t socket);

 private:
  bool process_and_close_socket(socket_t socket) override { return answer(socket); }

  const ConnectionLimits limits_;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> reading_heads_ = 0;
};

}  // namespace driftscope
