#include "core/trace/tensor_digest.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace driftscope {
namespace {

/// Rounds and finish of XXH64 (https://github.com/Cyan4973/xxHash, "XXH64 Algorithm Description"), over
/// 64-bit words, of which the last is filled up with zeros.
class Hash {
 public:
  void add(std::uint64_t word) {
    lanes_[count_ % lanes_.size()] = round(lanes_[count_ % lanes_.size()], word);
    ++count_;
  }
  [[nodiscard]] std::uint64_t value() const {
    std::uint64_t hash = count_;
    for (const std::uint64_t lane : lanes_) hash = (hash ^ round(0, lane)) * prime1 + prime4;
    hash = (hash ^ (hash >> 33)) * prime2;
    hash = (hash ^ (hash >> 29)) * prime3;
    return hash ^ (hash >> 32);
  }

 private:
  static constexpr std::uint64_t prime1 = 0x9E3779B185EBCA87ull;
  static constexpr std::uint64_t prime2 = 0xC2B2AE3D27D4EB4Full;
  static constexpr std::uint64_t prime3 = 0x165667B19E3779F9ull;
  static constexpr std::uint64_t prime4 = 0x85EBCA77C2B2AE63ull;

  static std::uint64_t round(std::uint64_t lane, std::uint64_t word) {
    return std::rotl(lane + word * prime2, 31) * prime1;
  }

  std::array<std::uint64_t, 4> lanes_ = {prime1 + prime2, prime2, 0, ~prime1 + 1};
  std::uint64_t count_ = 0;
};

/// Puts elements together to words and hashes them.
template <class Bits>
class Elements {
 public:
  void add(Bits bits) {
    word_ |= static_cast<std::uint64_t>(bits) << (8 * sizeof(Bits) * filled_);
    if (++filled_ * sizeof(Bits) < sizeof(word_)) return;
    hash_.add(word_);
    word_ = 0;
    filled_ = 0;
  }
  [[nodiscard]] std::uint64_t value() {
    if (filled_ > 0) hash_.add(word_);
    return hash_.value();
  }

 private:
  Hash hash_;
  std::uint64_t word_ = 0;
  std::size_t filled_ = 0;
};

/// `infinity`: the bits of +∞; larger magnitudes are NaNs.
template <class Bits>
void add_floats(std::span<const std::byte> bytes, Bits infinity, TensorDigest& digest) {
  constexpr Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  Elements<Bits> all;
  Elements<Bits> unsigned_zeros;
  for (std::size_t at = 0; at + sizeof(Bits) <= bytes.size(); at += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, bytes.data() + at, sizeof(Bits));
    const auto magnitude = static_cast<Bits>(bits & static_cast<Bits>(~sign));
    if (magnitude > infinity) bits = static_cast<Bits>(infinity + 1);
    all.add(bits);
    unsigned_zeros.add(magnitude == 0 ? Bits{0} : bits);
  }
  digest.bits = all.value();
  digest.unsigned_zeros = unsigned_zeros.value();
}

void add_bytes(std::span<const std::byte> bytes, TensorDigest& digest) {
  Hash hash;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof(word), bytes.size() - at));
    hash.add(word);
  }
  digest.bits = digest.unsigned_zeros = hash.value();
}

}  // namespace

TensorDigest digest_of(const Tensor& tensor) {
  TensorDigest digest{tensor.dtype(), tensor.shape()};
  const auto bytes = tensor.bytes();
  const bool floating = visit_floating(tensor.dtype(), [&]<class E>() {
    add_floats<decltype(E::infinity_bits())>(bytes, E::infinity_bits(), digest);
  });
  if (!floating) add_bytes(bytes, digest);
  return digest;
}

}  // namespace driftscope
