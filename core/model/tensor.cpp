#include "core/model/tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <new>

#include "core/base/checked.hpp"
#include "core/model/alive_tensors.hpp"

namespace driftscope {
namespace {

std::atomic<std::int64_t> alive_count = 0;
std::atomic<std::int64_t> alive_bytes = 0;
std::atomic<std::int64_t> max_bytes = 0;  // 0: no limit
std::atomic<const char*> limit_setting = "";

bool exceeds_limit(std::size_t bytes) { return static_cast<std::int64_t>(bytes) > tensor_bytes_left(); }

void count_alive(std::int64_t tensors, std::int64_t bytes) {
  alive_count.fetch_add(tensors, std::memory_order_relaxed);
  alive_bytes.fetch_add(bytes, std::memory_order_relaxed);
}

constexpr std::size_t cache_line = 64;

/// Rounded up to whole cache lines, so that a vector load of the last elements stays inside. The bytes after
/// the elements are 0, the elements are uninitialised. Null if memory or what is allowed of it runs out.
std::shared_ptr<std::byte> allocate_buffer(std::size_t bytes) {
  if (exceeds_limit(bytes)) return nullptr;
  constexpr std::align_val_t alignment{64};
  const std::size_t size = (bytes + 63) / 64 * 64 + 64;
  void* memory = ::operator new(size, alignment, std::nothrow);
  if (memory == nullptr) return nullptr;
  std::memset(static_cast<std::byte*>(memory) + bytes, 0, size - bytes);
  const auto counted = static_cast<std::int64_t>(bytes);
  count_alive(1, counted);
  return {static_cast<std::byte*>(memory), [counted](std::byte* p) {
            count_alive(-1, -counted);
            ::operator delete(p, std::align_val_t{64});
          }};
}

/// The bytes of a source where they are, if a tensor may lie there: vector loads of the last elements reach
/// behind them.
std::shared_ptr<std::byte> aligned_in_place(const ByteSource& source) {
  if (!source.in_place || source.size == 0) return nullptr;
  const std::shared_ptr<const std::byte> there = source.in_place(0, source.size, cache_line);
  if (reinterpret_cast<std::uintptr_t>(there.get()) % cache_line != 0) return nullptr;
  return std::const_pointer_cast<std::byte>(there);  // nobody writes to a tensor that is shared
}

}  // namespace

Tensor::Tensor(const Tensor&) = default;
Tensor::Tensor(Tensor&&) noexcept = default;
Tensor& Tensor::operator=(const Tensor&) = default;
Tensor& Tensor::operator=(Tensor&&) noexcept = default;
Tensor::~Tensor() = default;

void limit_alive_tensors(std::int64_t bytes, const char* setting) {
  limit_setting.store(setting, std::memory_order_relaxed);
  max_bytes.store(bytes, std::memory_order_relaxed);
}

std::int64_t tensor_bytes_left() {
  const std::int64_t limit = max_bytes.load(std::memory_order_relaxed);
  if (limit <= 0) return std::numeric_limits<std::int64_t>::max();
  return std::max<std::int64_t>(limit - alive_bytes.load(std::memory_order_relaxed), 0);
}

AliveTensors alive_tensors() {
  return {alive_count.load(std::memory_order_relaxed), alive_bytes.load(std::memory_order_relaxed)};
}

std::string shape_text(std::span<const std::int64_t> shape) {
  if (shape.empty()) return "scalar";
  return fmt::format("{}", fmt::join(shape, "x"));
}

std::int64_t element_count(std::span<const std::int64_t> shape) {
  const auto count = checked_product(shape);
  assert(count);
  return count.value_or(0);
}

Result<std::int64_t> tensor_byte_size(DType dtype, std::span<const std::int64_t> shape,
                                      std::string_view what) {
  const int bits = bits_per_element(dtype);
  if (bits == 0)
    return unsupported(fmt::format("{}: elements of type {} have no fixed size and cannot be stored", what,
                                   dtype_name(dtype)));
  if (shape.size() > max_rank)
    return limit_error(fmt::format("{}: {} dimensions, the limit is {}", what, shape.size(), max_rank));
  const auto count = checked_product(shape);
  if (!count)
    return bad_input(
        fmt::format("{}: shape [{}] has a negative dimension or more elements than 64 bits can count", what,
                    fmt::join(shape, ",")));
  const auto total_bits = checked_mul(*count, bits);
  if (!total_bits || *total_bits / 8 > max_tensor_bytes)
    return limit_error(fmt::format("{}: shape [{}] of {} needs more than the limit of {} GiB", what,
                                   fmt::join(shape, ","), dtype_name(dtype), max_tensor_bytes >> 30));
  return (*total_bits + 7) / 8;
}

Result<Tensor> Tensor::unallocated(DType dtype, Shape shape, std::string_view what) {
  DRIFTSCOPE_TRY(const std::int64_t bytes, tensor_byte_size(dtype, shape, what));
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.elements_ = element_count(shape);
  tensor.shape_ = std::move(shape);
  tensor.byte_size_ = static_cast<std::size_t>(bytes);
  return tensor;
}

Result<Tensor> Tensor::unwritten(DType dtype, Shape shape, std::string_view what) {
  DRIFTSCOPE_TRY(Tensor tensor, unallocated(dtype, std::move(shape), what));
  tensor.buffer_ = allocate_buffer(tensor.byte_size_);
  if (tensor.buffer_ != nullptr) return tensor;
  const std::string why = exceeds_limit(tensor.byte_size_)
                              ? fmt::format("; tensors may take {} bytes together, and {} are taken ({})",
                                            max_bytes.load(), alive_bytes.load(), limit_setting.load())
                              : "";
  return limit_error(fmt::format("{}: out of memory for {} bytes (shape {}, {}){}", what, tensor.byte_size_,
                                 shape_text(tensor.shape_), dtype_name(dtype), why));
}

Result<Tensor> Tensor::deferred(DType dtype, Shape shape, ByteSource source, std::string_view what) {
  DRIFTSCOPE_TRY(Tensor tensor, unallocated(dtype, std::move(shape), what));
  if (source.size != tensor.byte_size_)
    return bad_input(fmt::format("{}: {} of shape {} needs {} bytes, got {}", what, dtype_name(dtype),
                                 shape_text(tensor.shape_), tensor.byte_size_, source.size));
  tensor.deferred_ = std::make_shared<Deferred>(Deferred{std::move(source), nullptr});
  return tensor;
}

Result<Tensor> Tensor::in(std::shared_ptr<std::byte> memory, DType dtype, Shape shape,
                          std::string_view what) {
  DRIFTSCOPE_TRY(Tensor tensor, unallocated(dtype, std::move(shape), what));
  tensor.buffer_ = std::move(memory);
  return tensor;
}

std::byte* Tensor::deferred_data() const {
  if (deferred_->buffer == nullptr) {
    if (auto there = aligned_in_place(deferred_->source)) {
      deferred_->buffer = std::move(there);
      return deferred_->buffer.get();
    }
    auto buffer = allocate_buffer(byte_size_);
    if (buffer == nullptr) throw std::bad_alloc();
    deferred_->source.read(0, {buffer.get(), byte_size_});
    deferred_->buffer = std::move(buffer);
  }
  return deferred_->buffer.get();
}

bool Tensor::lies_in_place() const {
  return deferred_ != nullptr && aligned_in_place(deferred_->source) != nullptr;
}

void Tensor::copy_bytes(std::size_t offset, std::span<std::byte> target) const {
  assert(offset <= byte_size_ && target.size() <= byte_size_ - offset);
  if (target.empty()) return;
  if (in_memory())
    std::memcpy(target.data(), data() + offset, target.size());
  else
    deferred_->source.read(offset, target);
}

Result<Tensor> Tensor::make(DType dtype, Shape shape, std::string_view what) {
  DRIFTSCOPE_TRY(Tensor tensor, unwritten(dtype, std::move(shape), what));
  if (tensor.byte_size_ > 0) std::memset(tensor.data(), 0, tensor.byte_size_);
  return tensor;
}

Result<Tensor> Tensor::from_bytes(DType dtype, Shape shape, std::span<const std::byte> bytes,
                                  std::string_view what) {
  DRIFTSCOPE_TRY(const std::int64_t expected, tensor_byte_size(dtype, shape, what));
  if (static_cast<std::uint64_t>(expected) != bytes.size())
    return bad_input(fmt::format("{}: {} of shape {} needs {} bytes, got {}", what, dtype_name(dtype),
                                 shape_text(shape), expected, bytes.size()));
  DRIFTSCOPE_TRY(Tensor tensor, unwritten(dtype, std::move(shape), what));
  if (!bytes.empty()) std::memcpy(tensor.mutable_bytes().data(), bytes.data(), bytes.size());
  return tensor;
}

Result<Tensor> Tensor::reshaped(Shape shape) const {
  const auto count = checked_product(shape);
  if (!count || *count != elements_)
    return bad_input(fmt::format("cannot view {} as [{}]: the numbers of elements differ", shape_text(shape_),
                                 fmt::join(shape, ",")));
  Tensor view = *this;
  view.shape_ = std::move(shape);
  return view;
}

}  // namespace driftscope
