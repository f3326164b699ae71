// Room for the outputs of a run in a temporary file that is mapped: every value of a model together may be
// many times what a run needs, and ONNX Runtime keeps an output until the run is over, whether somebody asked
// for it or not. What was written leaves this process's memory at once, and is read again when it is used.
// Client: the backend.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>

#include "native/os/file_descriptor.hpp"

namespace driftscope::ort {

class OutputFile {
 public:
  /// Null where there is no room for so many bytes: they are reserved.
  [[nodiscard]] static std::shared_ptr<OutputFile> make(std::size_t bytes);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  [[nodiscard]] std::byte* data() const { return memory_; }
  [[nodiscard]] bool holds(const void* place) const {
    const auto* const at = static_cast<const std::byte*>(place);
    return at >= memory_ && at < memory_ + bytes_;
  }

 private:
  OutputFile(FileDescriptor file, std::byte* memory, std::size_t bytes);
  void release_again_and_again();

  FileDescriptor file_;
  std::byte* memory_;
  std::size_t bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread releaser_;
};

}  // namespace driftscope::ort
