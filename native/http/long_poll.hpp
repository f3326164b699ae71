// Questions to a page that stays: the PC asks, the page fetches the question (a request that waits until
// there is one) and sends its answer. One question at a time. Clients: Job, job_api (the page's side),
// the browser subject of a bench (the side that asks).
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace driftscope {

class Conversation {
 public:
  // The side that asks.
  void ask(std::string question);
  /// The answer to the last question, once; nothing when none has come within the time.
  [[nodiscard]] std::optional<std::string> answer(std::chrono::milliseconds time);

  // The page's side.
  /// The next question, once; nothing when none has come within the time, or never will.
  [[nodiscard]] std::optional<std::string> question(std::chrono::milliseconds time);
  /// False: nobody waits for an answer.
  bool reply(std::string answer);

  /// Ends all waiting, for good.
  void close();
  [[nodiscard]] bool closed() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::string> question_;
  std::optional<std::string> answer_;
  bool waiting_ = false;  // an answer is wanted
  bool closed_ = false;
};

}  // namespace driftscope
