// A dense row-major tensor: element type, shape, and bytes shared between copies.
// Used everywhere a value travels: initializers, inputs, what engines compute, traces.
// It computes nothing.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/byte_source.hpp"
#include "core/base/result.hpp"
#include "core/model/element.hpp"

namespace driftscope {

using Shape = std::vector<std::int64_t>;

/// "1x6x24x24", "scalar" for rank 0.
[[nodiscard]] std::string shape_text(std::span<const std::int64_t> shape);

/// Elements of a valid shape (no negative dimension, no overflow: as in every Tensor).
[[nodiscard]] std::int64_t element_count(std::span<const std::int64_t> shape);

/// Largest tensor that is ever allocated, in bytes; beyond it Tensor::make returns a limit error. Where
/// addresses have 32 bits it also keeps sizes within std::size_t.
inline constexpr std::int64_t max_tensor_bytes =
    sizeof(std::size_t) > 4 ? std::int64_t{1} << 36 : std::int64_t{1} << 31;

/// Most dimensions of a tensor; more is a limit error.
inline constexpr std::size_t max_rank = 32;

class Tensor {
 public:
  /// An empty float32 vector, [0].
  Tensor() = default;
  // Compiled once: tensors come and go everywhere.
  Tensor(const Tensor&);
  Tensor(Tensor&&) noexcept;
  Tensor& operator=(const Tensor&);
  Tensor& operator=(Tensor&&) noexcept;
  ~Tensor();

  /// Zero-filled. Fails on a negative dimension, on overflow, beyond max_tensor_bytes, for types
  /// without a fixed size, and when memory runs out. `what` names the tensor in the message.
  [[nodiscard]] static Result<Tensor> make(DType dtype, Shape shape, std::string_view what = "tensor");

  /// Like make, with uninitialised elements: the caller writes all of them.
  [[nodiscard]] static Result<Tensor> unwritten(DType dtype, Shape shape, std::string_view what = "tensor");

  /// A copy of `bytes`, whose length must be exactly that of the shape.
  [[nodiscard]] static Result<Tensor> from_bytes(DType dtype, Shape shape, std::span<const std::byte> bytes,
                                                 std::string_view what = "tensor");

  /// Elements stay in `source` until their first use, which reads all of them, for every copy of the tensor;
  /// aligned ones that the source has in place (a mapped file) are used there, which no limit counts.
  /// The first use must happen on a single thread and throws std::bad_alloc if memory runs out; only after
  /// it may other threads read the tensor. The source must be as long as the shape needs.
  [[nodiscard]] static Result<Tensor> deferred(DType dtype, Shape shape, ByteSource source,
                                               std::string_view what = "tensor");

  /// Elements that lie in `memory`, 64-byte aligned and as long as the shape needs: of a mapped file, say.
  /// Nobody may write to the tensor, and the limit of tensors in memory does not count it.
  [[nodiscard]] static Result<Tensor> in(std::shared_ptr<std::byte> memory, DType dtype, Shape shape,
                                         std::string_view what = "tensor");

  /// A copy of `values`; their number must be that of the shape. For tests and constants.
  template <class T>
  [[nodiscard]] static Result<Tensor> from_values(Shape shape, std::span<const T> values) {
    return from_bytes(dtype_of<T>(), std::move(shape), std::as_bytes(values));
  }

  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] int rank() const { return static_cast<int>(shape_.size()); }
  [[nodiscard]] std::int64_t elements() const { return elements_; }

  [[nodiscard]] std::size_t byte_size() const { return byte_size_; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return {data(), byte_size_}; }

  /// False while a deferred tensor's elements are only in its source.
  [[nodiscard]] bool in_memory() const { return deferred_ == nullptr || deferred_->buffer != nullptr; }

  /// Whether a deferred tensor's first use copies nothing: its source has the elements in place.
  [[nodiscard]] bool lies_in_place() const;

  /// Copies the bytes from `offset` on, which must be inside the tensor; a deferred tensor stays deferred.
  void copy_bytes(std::size_t offset, std::span<std::byte> target) const;

  /// The source's grain while the elements are not in memory yet, else 1.
  [[nodiscard]] std::uint64_t grain() const { return in_memory() ? 1 : deferred_->source.grain; }

  /// Only the creator of the tensor may write to it, before it is shared.
  [[nodiscard]] std::span<std::byte> mutable_bytes() { return {data(), byte_size_}; }

  /// The elements; T must be the C++ type of dtype(), for boolean std::uint8_t as well, for float16
  /// and bfloat16 std::uint16_t (their bits).
  template <class T>
  [[nodiscard]] std::span<const T> values() const {
    assert(holds<T>());
    return {reinterpret_cast<const T*>(data()), static_cast<std::size_t>(elements_)};
  }
  template <class T>
  [[nodiscard]] std::span<T> mutable_values() {
    assert(holds<T>());
    return {reinterpret_cast<T*>(data()), static_cast<std::size_t>(elements_)};
  }

  /// The same bytes under another shape of equally many elements; shares the buffer.
  [[nodiscard]] Result<Tensor> reshaped(Shape shape) const;

 private:
  [[nodiscard]] static Result<Tensor> unallocated(DType dtype, Shape shape, std::string_view what);
  template <class T>
  [[nodiscard]] bool holds() const {
    if (dtype_ == DType::boolean) return sizeof(T) == 1;
    return is_stored_as<T>(dtype_);
  }
  struct Deferred {
    ByteSource source;
    std::shared_ptr<std::byte> buffer;
  };
  [[nodiscard]] std::byte* data() const { return deferred_ == nullptr ? buffer_.get() : deferred_data(); }
  [[nodiscard]] std::byte* deferred_data() const;

  DType dtype_ = DType::float32;
  Shape shape_ = {0};
  std::int64_t elements_ = 0;
  std::size_t byte_size_ = 0;
  std::shared_ptr<std::byte> buffer_;   // 64-byte aligned, for SIMD loads
  std::shared_ptr<Deferred> deferred_;  // holds the buffer instead
};

/// Bytes of a buffer that holds a tensor of this type and shape, or why there cannot be one.
[[nodiscard]] Result<std::int64_t> tensor_byte_size(DType dtype, std::span<const std::int64_t> shape,
                                                    std::string_view what = "tensor");

}  // namespace driftscope
