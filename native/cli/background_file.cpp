#include "native/cli/background_file.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace driftscope {
namespace {

// Tensors wait in memory that they have anyway; this bounds how far computing may run ahead.
constexpr std::size_t most_waiting_bytes = std::size_t{64} << 20;

}  // namespace

struct BackgroundFile::State {
  explicit State(FileBeside its_file) : file(std::move(its_file)) {
    thread = std::thread([this] { write(); });
  }

  ~State() {
    {
      const std::lock_guard lock(mutex);
      waiting.clear();
      closing = true;
    }
    changed.notify_all();
    if (thread.joinable()) thread.join();
  }

  void write() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return closing || !waiting.empty(); });
      if (waiting.empty()) return;
      Tensor tensor = std::move(waiting.front());
      waiting.pop_front();
      const std::size_t size = tensor.bytes().size();
      lock.unlock();
      Status written = file.append(tensor.bytes());
      file.begin_flush();
      tensor = Tensor();  // its memory, before anybody is told
      lock.lock();
      waiting_bytes -= size;
      if (!written.ok() && status.ok()) status = std::move(written);
      if (!status.ok()) {
        waiting.clear();
        waiting_bytes = 0;
      }
      changed.notify_all();
    }
  }

  FileBeside file;  // the thread's, until it has ended
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Tensor> waiting;
  std::size_t waiting_bytes = 0;  // and what is being written
  bool closing = false;
  Status status;
  std::thread thread;
};

BackgroundFile::BackgroundFile(FileBeside file) : state_(std::make_unique<State>(std::move(file))) {}
BackgroundFile::BackgroundFile(BackgroundFile&&) noexcept = default;
BackgroundFile::~BackgroundFile() = default;

Status BackgroundFile::append(Tensor tensor) {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  state.changed.wait(lock, [&] { return state.waiting_bytes < most_waiting_bytes; });
  if (!state.status.ok()) return state.status;
  state.waiting_bytes += tensor.bytes().size();
  state.waiting.push_back(std::move(tensor));
  lock.unlock();
  state.changed.notify_all();
  return {};
}

Result<FileBeside> BackgroundFile::finish() {
  State& state = *state_;
  {
    const std::lock_guard lock(state.mutex);
    state.closing = true;
  }
  state.changed.notify_all();
  if (state.thread.joinable()) state.thread.join();
  if (!state.status.ok()) return state.status.error();
  return std::move(state.file);
}

}  // namespace driftscope
