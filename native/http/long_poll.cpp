#include "native/http/long_poll.hpp"

#include <utility>

namespace driftscope {

void LongPoll::send(std::string request) {
  {
    const std::lock_guard lock(mutex_);
    request_ = std::move(request);
    response_.reset();
    waiting_ = true;
  }
  changed_.notify_all();
}

std::optional<std::string> LongPoll::response(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [this] { return response_ || closed_; });
  return std::exchange(response_, std::nullopt);
}

std::optional<std::string> LongPoll::next_request(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [this] { return request_ || closed_; });
  return std::exchange(request_, std::nullopt);
}

bool LongPoll::respond(std::string response) {
  {
    const std::lock_guard lock(mutex_);
    if (!waiting_ || closed_) return false;
    waiting_ = false;
    response_ = std::move(response);
  }
  changed_.notify_all();
  return true;
}

void LongPoll::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    request_.reset();
  }
  changed_.notify_all();
}

bool LongPoll::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

}  // namespace driftscope
