// Recorded values in a temporary file instead of memory: the values of all targets of a comparison together
// may be many times what one run needs. Client: NativeComparisonHost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/model/tensor.hpp"
#include "native/os/file_descriptor.hpp"

namespace driftscope {

class SpilledValues {
 public:
  /// The same value, which lies in the file: its pages are read when they are used. Small ones stay in
  /// memory, as do all where there is no room in the file. A deferred one is read. May be called from any
  /// thread. Errors: no memory.
  [[nodiscard]] Result<Tensor> put(const Tensor& tensor);

  /// Gives back the memory of what was read; it is read again when it is used.
  void release();

 private:
  struct Mapping;

  [[nodiscard]] bool open();
  [[nodiscard]] std::shared_ptr<Mapping> map(std::size_t bytes);
  /// Null where there is no room.
  [[nodiscard]] std::shared_ptr<std::byte> write(const Tensor& tensor);

  std::mutex mutex_;
  FileDescriptor file_;
  bool full_ = false;                 // or there is none
  std::int64_t end_ = 0;              // of the file, in whole pages
  std::shared_ptr<Mapping> current_;  // where the next small value goes
  std::size_t used_ = 0;              // of it
  std::vector<std::weak_ptr<Mapping>> mappings_;
};

}  // namespace driftscope
