#include "native/host/spilled_values.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "native/os/unnamed_file.hpp"

namespace driftscope {
namespace {

// A smaller one takes no more memory than what is said about it.
constexpr std::size_t smallest_bytes = 1024;

// Values share mappings of this size, as a process may have only so many (65530 by default); large ones have
// their own.
constexpr std::size_t shared_bytes = std::size_t{32} << 20;
constexpr std::size_t own_bytes = std::size_t{4} << 20;

constexpr std::size_t piece_bytes = 1 << 20;
constexpr std::size_t cache_line = 64;  // as tensors are aligned

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

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
  std::int64_t offset;  // in the file

  Mapping(void* begin, std::size_t bytes, std::int64_t at) : memory(begin), size(bytes), offset(at) {}
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

/// The file reaches to the end of every mapping: what lies behind a value can be read as well, as vector
/// loads of its last elements do.
std::shared_ptr<SpilledValues::Mapping> SpilledValues::map(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t size = rounded_up(bytes + cache_line, page);
  if (::ftruncate(file_.get(), static_cast<off_t>(end_ + static_cast<std::int64_t>(size))) != 0)
    return nullptr;
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file_.get(), static_cast<off_t>(end_));
  if (memory == MAP_FAILED) return nullptr;
  auto mapping = std::make_shared<Mapping>(memory, size, end_);
  end_ += static_cast<std::int64_t>(size);
  mappings_.push_back(mapping);
  return mapping;
}

std::shared_ptr<std::byte> SpilledValues::write(const Tensor& tensor) {
  const std::lock_guard lock(mutex_);
  if (!open()) return nullptr;
  const std::size_t bytes = tensor.byte_size();
  const bool alone = bytes >= own_bytes;
  if (!alone && (current_ == nullptr || shared_bytes - used_ < bytes)) {
    current_ = map(shared_bytes);
    used_ = 0;
  }
  const std::shared_ptr<Mapping> mapping = alone ? map(bytes) : current_;
  if (mapping == nullptr) return nullptr;
  const std::size_t at = alone ? 0 : used_;
  full_ = !write_value(file_.get(), mapping->offset + static_cast<std::int64_t>(at), tensor);
  if (full_) return nullptr;
  if (!alone) used_ = std::min(rounded_up(used_ + bytes, cache_line), shared_bytes);
  return {mapping, static_cast<std::byte*>(mapping->memory) + at};
}

Result<Tensor> SpilledValues::put(const Tensor& tensor) {
  if (tensor.byte_size() >= smallest_bytes)
    if (auto memory = write(tensor)) return Tensor::in(std::move(memory), tensor.dtype(), tensor.shape());
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
