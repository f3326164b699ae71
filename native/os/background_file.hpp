// A file that is written by a thread of its own while its owner computes. What waits to be written is
// bounded; what has been written is on its way to the disk at once, so that flushing at the end waits
// for little. Client: the trace writer.
#pragma once

#include <memory>

#include "core/model/tensor.hpp"
#include "native/os/files.hpp"

namespace driftscope {

class BackgroundFile {
 public:
  explicit BackgroundFile(AtomicFile file);
  BackgroundFile(BackgroundFile&&) noexcept;
  BackgroundFile& operator=(BackgroundFile&&) = delete;
  /// Without finish what waits is dropped, and the file goes.
  ~BackgroundFile();

  /// The tensor's bytes come behind what was appended before. Waits while too much waits already; an
  /// error of an earlier append.
  [[nodiscard]] Status append(Tensor tensor);

  /// Waits until everything is written, and hands the file over. Nothing may be appended after it.
  [[nodiscard]] Result<AtomicFile> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace driftscope
