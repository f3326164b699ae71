// Bytes that nobody changes, shared between copies: in memory, or in a file that is mapped. Clients: whoever
// holds a model's files.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/base/byte_source.hpp"

namespace driftscope {

class SharedBytes {
 public:
  /// Gives back the memory of bytes that can be read again.
  using Release = void (*)(std::span<const std::byte>);

  SharedBytes() = default;
  explicit SharedBytes(std::vector<std::byte> bytes)
      : SharedBytes(std::make_shared<const std::vector<std::byte>>(std::move(bytes))) {}
  SharedBytes(const std::shared_ptr<const std::vector<std::byte>>& bytes)  // NOLINT: the same, owned alike
      : owner_(bytes) {
    if (bytes != nullptr) bytes_ = *bytes;
  }
  /// As many bytes behind mapped ones can be read.
  static constexpr std::size_t readable_behind = 64;

  /// `owner` keeps `bytes`. `give_back`: of memory that is mapped; null: it is all that there is.
  SharedBytes(std::shared_ptr<const void> owner, std::span<const std::byte> bytes,
              Release give_back = nullptr)
      : owner_(std::move(owner)), bytes_(bytes), release_(give_back) {}

  /// False: there are none, not even empty ones.
  explicit operator bool() const { return owner_ != nullptr; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] const std::byte* data() const { return bytes_.data(); }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] const std::shared_ptr<const void>& owner() const { return owner_; }

  /// Of mapped bytes; nothing is lost.
  void release(std::span<const std::byte> part) const {
    if (release_ != nullptr && !part.empty()) release_(part);
  }
  void release() const { release(bytes_); }

  /// Keeps the bytes. What it copied of mapped ones is released, so that reading a model once does not keep
  /// all of it in memory.
  [[nodiscard]] ByteSource source() const;

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
  Release release_ = nullptr;
};

inline ByteSource SharedBytes::source() const {
  using Found = std::shared_ptr<const std::byte>;
  ByteSource source;
  source.size = bytes_.size();
  source.read = [shared = *this](std::uint64_t offset, std::span<std::byte> target) {
    constexpr std::size_t piece = 1 << 20;
    const auto whole = shared.bytes_.subspan(static_cast<std::size_t>(offset), target.size());
    for (std::size_t done = 0; done < whole.size(); done += piece) {
      const auto part = whole.subspan(done, std::min(piece, whole.size() - done));
      std::copy(part.begin(), part.end(), target.begin() + static_cast<std::ptrdiff_t>(done));
      if (part.size() == piece) shared.release(part);
    }
  };
  source.in_place = [shared = *this](std::uint64_t offset, std::uint64_t count, std::size_t behind) {
    const std::uint64_t left = shared.bytes_.size() - offset - count;
    if (behind > left && (shared.release_ == nullptr || behind > readable_behind)) return Found();
    const auto part =
        shared.bytes_.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(count));
    return Found(shared.owner_, part.data());
  };
  return source;
}

}  // namespace driftscope
