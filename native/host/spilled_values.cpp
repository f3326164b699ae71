#include "native/host/spilled_values.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "native/os/unnamed_file.hpp"

namespace driftscope {
namespace {

// A value that is smaller costs a mapping of its own more than it saves.
constexpr std::size_t smallest_bytes = 64 * 1024;

constexpr std::size_t piece_bytes = 1 << 20;

bool write_at(int fd, std::int64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += written;
  }
  return true;
}

/// What an engine still holds elsewhere is read in pieces.
bool write_value(int fd, std::int64_t offset, const Tensor& tensor) {
  if (tensor.in_memory()) return write_at(fd, offset, tensor.bytes());
  const std::size_t grain = std::max<std::size_t>(1, tensor.grain());
  const std::size_t most = std::max(grain, piece_bytes / grain * grain);
  std::vector<std::byte> piece(std::min(most, tensor.byte_size()));
  for (std::size_t at = 0; at < tensor.byte_size(); at += piece.size()) {
    const auto part = std::span(piece).first(std::min(piece.size(), tensor.byte_size() - at));
    tensor.copy_bytes(at, part);
    if (!write_at(fd, offset + static_cast<std::int64_t>(at), part)) return false;
  }
  return true;
}

}  // namespace

struct SpilledValues::Mapping {
  void* memory;
  std::size_t size;

  Mapping(void* begin, std::size_t bytes) : memory(begin), size(bytes) {}
  ~Mapping() { ::munmap(memory, size); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
};

bool SpilledValues::open() {
  if (full_ || file_.get() >= 0) return !full_;
  auto file = open_unnamed_file();
  full_ = !file.ok();
  if (file.ok()) file_ = *std::move(file);
  return !full_;
}

std::shared_ptr<SpilledValues::Mapping> SpilledValues::write(const Tensor& tensor) {
  const std::lock_guard lock(mutex_);
  if (!open()) return nullptr;
  full_ = !write_value(file_.get(), size_, tensor);
  if (full_) return nullptr;
  const std::size_t bytes = tensor.byte_size();
  void* const memory = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file_.get(), static_cast<off_t>(size_));
  if (memory == MAP_FAILED) return nullptr;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  size_ += static_cast<std::int64_t>((bytes + page - 1) / page * page);
  auto mapping = std::make_shared<Mapping>(memory, bytes);
  mappings_.push_back(mapping);
  return mapping;
}

Result<Tensor> SpilledValues::put(const Tensor& tensor) {
  if (tensor.byte_size() >= smallest_bytes)
    if (const auto mapping = write(tensor))
      return Tensor::in(std::shared_ptr<std::byte>(mapping, static_cast<std::byte*>(mapping->memory)),
                        tensor.dtype(), tensor.shape());
  if (tensor.in_memory()) return tensor;
  DRIFTSCOPE_TRY(Tensor copy, Tensor::unwritten(tensor.dtype(), tensor.shape()));
  tensor.copy_bytes(0, copy.mutable_bytes());
  return copy;
}

void SpilledValues::release() {
  const std::lock_guard lock(mutex_);
  std::erase_if(mappings_, [](const std::weak_ptr<Mapping>& one) { return one.expired(); });
  for (const auto& one : mappings_)
    if (const auto mapping = one.lock()) ::madvise(mapping->memory, mapping->size, MADV_DONTNEED);
}

}  // namespace driftscope
