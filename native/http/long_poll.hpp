// Requests to a page that stays: the page fetches the next one (an HTTP request that waits until there is
// one) and posts the response to it. One request at a time. Clients: Job, job_api (the page's side), the
// browser subject of a bench (the side that sends).
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

namespace driftscope {

class LongPoll {
 public:
  // The sending side.
  void send(std::string request);
  /// The response to the last request, once; nothing if none has come within the time.
  [[nodiscard]] std::optional<std::string> response(std::chrono::milliseconds time);

  // The page's side.
  /// The next request, once; nothing if none has come within the time, or ever will.
  [[nodiscard]] std::optional<std::string> next_request(std::chrono::milliseconds time);
  /// False: nobody is waiting for a response.
  bool respond(std::string response);

  /// Ends all waits, permanently.
  void close();
  [[nodiscard]] bool closed() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::string> request_;
  std::optional<std::string> response_;
  bool waiting_ = false;  // for a response
  bool closed_ = false;
};

}  // namespace driftscope
