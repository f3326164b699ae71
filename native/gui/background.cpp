#include "native/gui/background.hpp"

#include <new>
#include <utility>

namespace driftscope {

Background::Background(std::function<void()> changed)
    : changed_(std::move(changed)), thread_([this] { run(); }) {}

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    waiting_.clear();
  }
  wake_.notify_all();
  thread_.join();
}

void Background::add(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
  }
  wake_.notify_one();
}

bool Background::busy() const {
  const std::lock_guard lock(mutex_);
  return working_ || !waiting_.empty();
}

void Background::run() {
  while (true) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      working_ = false;
      wake_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
      if (ending_) return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
      working_ = true;
    }
    try {
      work();
    } catch (const std::bad_alloc&) {  // its caller finds nothing
    }
    changed_();
  }
}

}  // namespace driftscope
