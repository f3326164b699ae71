// Short work of views off the frame, one after the other on a thread of its own: the worker of the host may
// be busy with a comparison for minutes. Client: DesktopHost.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace driftscope {

class Background {
 public:
  /// `changed` is called from the thread after each piece of work.
  explicit Background(std::function<void()> changed);
  /// Forgets what has not begun and waits for the rest.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  void add(std::function<void()> work);
  [[nodiscard]] bool busy() const;

 private:
  void run();

  std::function<void()> changed_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> waiting_;  // guarded by mutex_, like the next two
  bool working_ = false;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace driftscope
