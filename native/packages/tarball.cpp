#include "native/packages/tarball.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/archive/member_name.hpp"

namespace driftscope {
namespace {

constexpr std::size_t block_bytes = 512;
constexpr std::uint64_t max_name_record = 64 * 1024;  // of a pax or GNU header

/// Unpacks gzip from memory, piece by piece.
class Gunzip {
 public:
  explicit Gunzip(std::span<const std::byte> packed) : packed_(packed) {
    constexpr int gzip_window = 15 + 16;
    ready_ = inflateInit2(&stream_, gzip_window) == Z_OK;
  }
  ~Gunzip() { inflateEnd(&stream_); }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  /// How many bytes came: fewer than asked for at the end. Errors: damaged, or cut.
  Result<std::size_t> read(std::span<std::byte> to) {
    if (!ready_) return limit_error("out of memory for unpacking");
    std::size_t done = 0;
    while (done < to.size() && !ended_) {
      feed();
      const auto room = static_cast<uInt>(std::min<std::size_t>(to.size() - done, std::size_t{1} << 30));
      stream_.next_out = reinterpret_cast<Bytef*>(to.data() + done);
      stream_.avail_out = room;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      done += room - stream_.avail_out;
      if (status == Z_STREAM_END) ended_ = true;
      if (status == Z_BUF_ERROR && packed_.empty() && stream_.avail_in == 0)
        return bad_input("the archive is cut");
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        return bad_input("not a gzip archive, or a damaged one");
    }
    return done;
  }

 private:
  void feed() {
    if (stream_.avail_in > 0 || packed_.empty()) return;
    const std::size_t size = std::min<std::size_t>(packed_.size(), std::size_t{1} << 30);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed_.data()));
    stream_.avail_in = static_cast<uInt>(size);
    packed_ = packed_.subspan(size);
  }

  std::span<const std::byte> packed_;
  z_stream stream_ = {};
  bool ready_ = false;
  bool ended_ = false;
};

using Block = std::array<char, block_bytes>;

std::string_view tar_field(const Block& block, std::size_t at, std::size_t size) {
  const std::string_view all(block.data() + at, size);
  return all.substr(0, all.find('\0'));
}

std::optional<std::uint64_t> octal(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\0')) text.remove_suffix(1);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool checksum_is_right(const Block& block) {
  constexpr std::size_t at = 148;
  constexpr std::size_t size = 8;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < block.size(); ++i)
    sum += i >= at && i < at + size ? ' ' : static_cast<unsigned char>(block[i]);
  return octal(tar_field(block, at, size)) == sum;
}

/// "path" of a pax header: records of "LENGTH KEY=VALUE\n".
std::string pax_path(std::string_view records) {
  std::string path;
  while (!records.empty()) {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(records.data(), records.data() + records.size(), length);
    const auto digits = static_cast<std::size_t>(end - records.data());
    if (error != std::errc{} || length <= digits + 1 || length > records.size()) return path;
    const std::string_view record = records.substr(digits + 1, length - digits - 2);
    if (record.starts_with("path=")) path = record.substr(5);
    records.remove_prefix(length);
  }
  return path;
}

class Tar {
 public:
  Tar(std::span<const std::byte> packed, const TarballReader& reader, const TarballLimits& limits)
      : unpacked_(packed), reader_(reader), limits_(limits) {}

  Status read() {
    std::string long_name;
    for (;;) {
      DRIFTSCOPE_TRY(const bool more, next_block());
      if (!more) return read_to_end();
      if (!checksum_is_right(block_)) return bad_input("not a tar archive, or a damaged one");
      const auto size = octal(tar_field(block_, 124, 12));
      if (!size) return bad_input("the archive has a file without a size");
      DRIFTSCOPE_CHECK(count(*size));
      const char type = block_[156];
      if (type == 'x' || type == 'L') {
        DRIFTSCOPE_TRY(long_name, name_record(*size, type));
        continue;
      }
      const std::string name = long_name.empty() ? short_name() : std::exchange(long_name, {});
      const bool regular = type == '0' || type == '\0';
      if (regular && !is_member_name(name))
        return bad_input("the archive has a file with a name that leads elsewhere");
      DRIFTSCOPE_CHECK(regular && reader_.wants(name) ? hand_over(name, *size)
                                                      : skip(*size + padding_of(*size)));
    }
  }

 private:
  Status count(std::uint64_t size) {
    if (++files_ > limits_.files) return limit_error(fmt::format("more than {} files", limits_.files));
    if (size > limits_.bytes - std::min(bytes_, limits_.bytes))
      return limit_error(fmt::format("more than {} MiB unpacked", limits_.bytes >> 20));
    bytes_ += size;
    return {};
  }

  /// False: the archive's end.
  Result<bool> next_block() {
    DRIFTSCOPE_TRY(const std::size_t got, unpacked_.read(std::as_writable_bytes(std::span(block_))));
    if (got == 0) return false;
    if (got < block_.size()) return bad_input("the archive is cut");
    return std::ranges::any_of(block_, [](char c) { return c != '\0'; });
  }

  /// What follows is empty; reading it checks that the archive is whole.
  Status read_to_end() {
    std::vector<std::byte> piece(64 * 1024);
    for (std::uint64_t more = 0; more <= limits_.bytes;) {
      DRIFTSCOPE_TRY(const std::size_t got, unpacked_.read(piece));
      if (got < piece.size()) return {};
      more += got;
    }
    return limit_error(fmt::format("more than {} MiB unpacked", limits_.bytes >> 20));
  }

  Status take(std::span<std::byte> to) {
    DRIFTSCOPE_TRY(const std::size_t got, unpacked_.read(to));
    return got == to.size() ? Status() : Status(bad_input("the archive is cut"));
  }

  /// Bytes of a file's last block that do not belong to it.
  static std::uint64_t padding_of(std::uint64_t size) {
    return (block_bytes - size % block_bytes) % block_bytes;
  }

  Status skip(std::uint64_t left) {
    std::vector<std::byte> piece(64 * 1024);
    while (left > 0) {
      const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(left, piece.size()));
      DRIFTSCOPE_CHECK(take(std::span(piece).first(part)));
      left -= part;
    }
    return {};
  }

  Result<std::vector<std::byte>> content(std::uint64_t size, std::uint64_t limit) {
    if (size > limit) return limit_error(fmt::format("a file of {} MiB", size >> 20));
    std::vector<std::byte> bytes(static_cast<std::size_t>(size));
    DRIFTSCOPE_CHECK(take(bytes));
    DRIFTSCOPE_CHECK(skip(padding_of(size)));
    return bytes;
  }

  Result<std::string> name_record(std::uint64_t size, char type) {
    DRIFTSCOPE_TRY(const auto bytes, content(size, max_name_record));
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return type == 'x' ? pax_path(text) : std::string(text.substr(0, text.find('\0')));
  }

  Status hand_over(const std::string& name, std::uint64_t size) {
    DRIFTSCOPE_TRY(const auto bytes, content(size, limits_.file_bytes));
    return reader_.file(name, bytes);
  }

  [[nodiscard]] std::string short_name() const {
    const std::string_view prefix =
        tar_field(block_, 257, 5) == "ustar" ? tar_field(block_, 345, 155) : std::string_view();
    const std::string_view name = tar_field(block_, 0, 100);
    return prefix.empty() ? std::string(name) : fmt::format("{}/{}", prefix, name);
  }

  Gunzip unpacked_;
  const TarballReader& reader_;
  const TarballLimits& limits_;
  Block block_ = {};
  std::size_t files_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace

Status read_tarball(std::span<const std::byte> packed, const TarballReader& reader,
                    const TarballLimits& limits) {
  return Tar(packed, reader, limits).read();
}

}  // namespace driftscope
