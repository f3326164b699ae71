#include "native/os/background_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

namespace driftscope {
namespace {

// Waiting tensors occupy memory; this bounds how far computing may run ahead.
constexpr std::size_t max_waiting_bytes = std::size_t{64} << 20;
constexpr std::size_t piece_bytes = std::size_t{1} << 20;
constexpr std::size_t max_piece_bytes = std::size_t{16} << 20;  // regardless of the grain

}  // namespace

struct BackgroundFile::State {
  explicit State(AtomicFile its_file) : file(std::move(its_file)) {
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
      const std::size_t size = tensor.byte_size();
      lock.unlock();
      Status written = append_to_file(tensor);
      file.begin_flush();
      tensor = Tensor();  // frees its memory before waiting threads are notified
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

  // A deferred tensor is copied through one piece of memory, which stays in the cache.
  Status append_to_file(const Tensor& tensor) {
    if (tensor.in_memory()) return file.append(tensor.bytes());
    const auto grain = static_cast<std::size_t>(std::min<std::uint64_t>(tensor.grain(), max_piece_bytes));
    const std::size_t size = std::max(piece_bytes / grain, std::size_t{1}) * grain;
    try {
      if (piece.size() < size) piece.resize(size);
    } catch (const std::bad_alloc&) {
      return limit_error(fmt::format("out of memory for {} bytes of a tensor on its way to a file", size));
    }
    for (std::size_t at = 0; at < tensor.byte_size();) {
      const auto part = std::span(piece).first(std::min(size, tensor.byte_size() - at));
      tensor.copy_bytes(at, part);
      DRIFTSCOPE_CHECK(file.append(part));
      at += part.size();
    }
    return {};
  }

  AtomicFile file;  // belongs to the thread until it has ended
  std::vector<std::byte> piece;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Tensor> waiting;
  std::size_t waiting_bytes = 0;  // including the tensor being written
  bool closing = false;
  Status status;
  std::thread thread;
};

BackgroundFile::BackgroundFile(AtomicFile file) : state_(std::make_unique<State>(std::move(file))) {}
BackgroundFile::BackgroundFile(BackgroundFile&&) noexcept = default;
BackgroundFile::~BackgroundFile() = default;

Status BackgroundFile::append(Tensor tensor) {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  state.changed.wait(lock, [&] { return state.waiting_bytes < max_waiting_bytes; });
  if (!state.status.ok()) return state.status;
  state.waiting_bytes += tensor.byte_size();
  state.waiting.push_back(std::move(tensor));
  lock.unlock();
  state.changed.notify_all();
  return {};
}

Result<AtomicFile> BackgroundFile::finish() {
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
