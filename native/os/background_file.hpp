// A file that is written by a separate thread while its owner computes. The queue is
// bounded; written data is sent to the disk immediately, so that flushing at the end is
// short. Client: the trace writer.
#pragma once

#include <memory>

#include "core/model/tensor.hpp"
#include "native/os/atomic_file.hpp"

namespace driftscope {

class BackgroundFile {
 public:
  explicit BackgroundFile(AtomicFile file);
  BackgroundFile(BackgroundFile&&) noexcept;
  BackgroundFile& operator=(BackgroundFile&&) = delete;
  /// Without finish, queued tensors are dropped, and the file is removed.
  ~BackgroundFile();

  /// Appends the tensor's bytes. Waits while the queue is full; returns an
  /// error of an earlier append.
  [[nodiscard]] Status append(Tensor tensor);

  /// Waits until everything is written, and returns the file. Nothing may be appended afterwards.
  [[nodiscard]] Result<AtomicFile> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace driftscope
