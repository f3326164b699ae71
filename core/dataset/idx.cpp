#include "core/dataset/idx.hpp"

#include <fmt/format.h>

namespace driftscope {
namespace {

std::int64_t big_endian_32(std::span<const std::byte> bytes) {
  std::int64_t value = 0;
  for (const std::byte byte : bytes.first(4)) value = value * 256 + std::to_integer<int>(byte);
  return value;
}

}  // namespace

Result<Tensor> read_idx(std::span<const std::byte> bytes) {
  constexpr std::byte unsigned_byte{0x08};
  constexpr std::size_t magic_bytes = 4;
  if (bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b})
    return unsupported("IDX file: it is compressed; unpack it with gunzip");
  if (bytes.size() < magic_bytes)
    return bad_input(fmt::format("IDX file: {} bytes are too few for its header", bytes.size()));
  if (bytes[0] != std::byte{0} || bytes[1] != std::byte{0})
    return bad_input(fmt::format("IDX file: it starts with {:02x}{:02x}, expected 0000",
                                 std::to_integer<int>(bytes[0]), std::to_integer<int>(bytes[1])));
  if (bytes[2] != unsigned_byte)
    return unsupported(fmt::format("IDX file: element type {:#04x}, expected 0x08 (unsigned bytes)",
                                   std::to_integer<int>(bytes[2])));
  const auto rank = std::to_integer<std::size_t>(bytes[3]);
  if (rank == 0) return bad_input("IDX file: it has no dimensions");
  const std::size_t header = magic_bytes + 4 * rank;
  if (bytes.size() < header)
    return bad_input(fmt::format("IDX file: {} dimensions need a header of {} bytes, the file has {}", rank,
                                 header, bytes.size()));
  Shape shape;
  for (std::size_t i = 0; i < rank; ++i) shape.push_back(big_endian_32(bytes.subspan(magic_bytes + 4 * i)));
  return Tensor::from_bytes(DType::uint8, std::move(shape), bytes.subspan(header), "IDX file");
}

}  // namespace driftscope
