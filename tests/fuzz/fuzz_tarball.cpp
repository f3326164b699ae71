// Any bytes as a package, and as the tar archive in one, with the checksums of its headers made right.
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "core/archive/member_name.hpp"
#include "native/packages/tarball.hpp"

namespace {

using namespace driftscope;

constexpr std::size_t block = 512;
constexpr std::size_t checksum_at = 148;
constexpr std::size_t checksum_size = 8;
constexpr TarballLimits limits{.bytes = 1 << 20, .file_bytes = 1 << 16, .files = 64};

void write_checksum(std::span<std::uint8_t> header) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < checksum_size; ++i) header[checksum_at + i] = ' ';
  for (const std::uint8_t byte : header) sum += byte;
  for (std::size_t digit = 0; digit < 6; ++digit)
    header[checksum_at + 5 - digit] = static_cast<std::uint8_t>('0' + ((sum >> (3 * digit)) & 7));
  header[checksum_at + 6] = 0;
}

std::vector<std::byte> packed(std::span<const std::uint8_t> tar) {
  constexpr int gzip_window = 15 + 16;
  z_stream stream = {};
  if (deflateInit2(&stream, 1, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK) std::abort();
  std::vector<std::byte> bytes(deflateBound(&stream, static_cast<uLong>(tar.size())));
  stream.next_in = const_cast<Bytef*>(tar.data());
  stream.avail_in = static_cast<uInt>(tar.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) std::abort();
  bytes.resize(bytes.size() - stream.avail_out);
  deflateEnd(&stream);
  return bytes;
}

void read(std::span<const std::byte> archive) {
  std::uint64_t bytes = 0;
  const TarballReader reader{.wants = [](const std::string& name) { return name.size() % 2 == 0; },
                             .file =
                                 [&](const std::string& name, std::span<const std::byte> content) {
                                   if (!is_member_name(name) || content.size() > limits.file_bytes)
                                     std::abort();
                                   bytes += content.size();
                                   return Status();
                                 }};
  (void)read_tarball(archive, reader, limits);
  if (bytes > limits.bytes) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read(std::as_bytes(std::span(data, size)));
  std::vector<std::uint8_t> tar(data, data + size);
  for (std::size_t at = 0; at + block <= tar.size(); at += block)
    if (tar[at] != 0) write_checksum(std::span(tar).subspan(at, block));
  read(packed(tar));
  return 0;
}
