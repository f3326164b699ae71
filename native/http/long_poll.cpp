#include "native/http/long_poll.hpp"

#include <utility>

namespace driftscope {

void Conversation::ask(std::string question) {
  {
    const std::lock_guard lock(mutex_);
    question_ = std::move(question);
    answer_.reset();
    waiting_ = true;
  }
  changed_.notify_all();
}

std::optional<std::string> Conversation::answer(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [this] { return answer_ || closed_; });
  return std::exchange(answer_, std::nullopt);
}

std::optional<std::string> Conversation::question(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [this] { return question_ || closed_; });
  return std::exchange(question_, std::nullopt);
}

bool Conversation::reply(std::string answer) {
  {
    const std::lock_guard lock(mutex_);
    if (!waiting_ || closed_) return false;
    waiting_ = false;
    answer_ = std::move(answer);
  }
  changed_.notify_all();
  return true;
}

void Conversation::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    question_.reset();
  }
  changed_.notify_all();
}

bool Conversation::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

}  // namespace driftscope
