#include "core/archive/archive_reader.hpp"

#include <fmt/format.h>
#include <unzip.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "core/archive/member_name.hpp"

namespace driftscope {
namespace {

constexpr std::uint64_t max_members = 1'000'000;
constexpr std::uint64_t longest_deflated = std::uint64_t{1} << 31;  // in one call of inflate

/// What minizip reads from.
struct MemoryFile {
  std::span<const std::byte> bytes;
  std::uint64_t place = 0;
};

zlib_filefunc64_def functions_of(MemoryFile& file) {
  zlib_filefunc64_def functions{};
  functions.opaque = &file;
  functions.zopen64_file = [](void* opaque, const void*, int) { return opaque; };
  functions.zread_file = [](void*, void* stream, void* target, uLong size) {
    auto& from = *static_cast<MemoryFile*>(stream);
    const std::uint64_t left = from.bytes.size() - from.place;
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(size, left));
    if (count > 0) std::memcpy(target, from.bytes.data() + static_cast<std::size_t>(from.place), count);
    from.place += count;
    return static_cast<uLong>(count);
  };
  functions.zwrite_file = [](void*, void*, const void*, uLong) { return uLong{0}; };
  functions.ztell64_file = [](void*, void* stream) {
    return static_cast<ZPOS64_T>(static_cast<MemoryFile*>(stream)->place);
  };
  functions.zseek64_file = [](void*, void* stream, ZPOS64_T offset, int origin) -> long {
    auto& in = *static_cast<MemoryFile*>(stream);
    const std::uint64_t size = in.bytes.size();
    const std::uint64_t base = origin == ZLIB_FILEFUNC_SEEK_SET   ? 0
                               : origin == ZLIB_FILEFUNC_SEEK_CUR ? in.place
                                                                  : size;
    if (offset > size - base) return -1;
    in.place = base + offset;
    return 0;
  };
  functions.zclose_file = [](void*, void*) { return 0; };
  functions.zerror_file = [](void*, void*) { return 0; };
  return functions;
}

/// minizip takes what is missing at the very end for zeros.
bool has_whole_end(std::span<const std::byte> bytes) {
  constexpr std::size_t record = 22;  // and the comment, whose length is its last field
  constexpr std::size_t longest_comment = 0xffff;
  constexpr std::array<std::byte, 4> signature = {std::byte{'P'}, std::byte{'K'}, std::byte{5}, std::byte{6}};
  const auto tail = bytes.last(std::min(bytes.size(), record + longest_comment));
  const auto found = std::ranges::find_end(tail, signature);
  const auto left = static_cast<std::size_t>(tail.end() - found.begin());
  if (found.empty() || left < record) return false;
  const auto field = found.begin() + static_cast<std::ptrdiff_t>(record) - 2;
  const std::size_t comment =
      std::to_integer<std::size_t>(field[0]) | (std::to_integer<std::size_t>(field[1]) << 8);
  return comment <= left - record;
}

struct CloseZip {
  void operator()(void* zip) const { unzClose(zip); }
};
using OpenZip = std::unique_ptr<void, CloseZip>;

Error damaged(std::string_view name) { return bad_input(fmt::format("member '{}' is damaged", name)); }

std::uint32_t checksum(std::span<const std::byte> bytes, std::uint32_t sum = 0) {
  while (!bytes.empty()) {
    const std::size_t count = std::min<std::size_t>(bytes.size(), std::size_t{1} << 30);
    sum = static_cast<std::uint32_t>(
        crc32(sum, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(count)));
    bytes = bytes.subspan(count);
  }
  return sum;
}

/// The member that is current in `zip`.
Result<ArchiveMember> current_member(void* zip, const MemoryFile& file, const unz_file_info64& info,
                                     const std::string& name) {
  constexpr uLong encrypted = 1;
  if ((info.flag & encrypted) != 0)
    return unsupported(fmt::format("member '{}' is encrypted, which is not supported", name));
  if (info.compression_method != 0 && info.compression_method != Z_DEFLATED)
    return unsupported(fmt::format("member '{}' is packed by method {}; expected stored (0) or deflated (8)",
                                   name, info.compression_method));
  if (unzOpenCurrentFile2(zip, nullptr, nullptr, 1) != UNZ_OK) return damaged(name);
  const std::uint64_t offset = unzGetCurrentFileZStreamPos64(zip);
  unzCloseCurrentFile(zip);
  const std::uint64_t total = file.bytes.size();
  if (offset > total || info.compressed_size > total - offset)
    return bad_input(fmt::format("member '{}' has {} bytes at {}, the file has {}: it is cut", name,
                                 std::uint64_t{info.compressed_size}, offset, total));
  ArchiveMember member;
  member.packed =
      file.bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(info.compressed_size));
  member.size = info.uncompressed_size;
  member.crc = static_cast<std::uint32_t>(info.crc);
  member.deflated = info.compression_method == Z_DEFLATED;
  if (!member.deflated && member.size != member.packed.size()) return damaged(name);
  return member;
}

Result<std::string> current_name(void* zip, unz_file_info64& info) {
  std::array<char, longest_member_name + 1> name{};
  if (unzGetCurrentFileInfo64(zip, &info, name.data(), name.size(), nullptr, 0, nullptr, 0) != UNZ_OK)
    return bad_input("its list of members is damaged");
  if (info.size_filename > longest_member_name || !is_member_name({name.data(), info.size_filename}))
    return bad_input("a member has a name that is not a plain relative path");
  return std::string(name.data(), info.size_filename);
}

}  // namespace

bool is_archive(std::span<const std::byte> bytes) {
  constexpr std::array<unsigned char, 4> local_header = {'P', 'K', 3, 4};
  return bytes.size() >= local_header.size() &&
         std::memcmp(bytes.data(), local_header.data(), local_header.size()) == 0;
}

Result<ArchiveReader> ArchiveReader::open(std::span<const std::byte> bytes) {
  MemoryFile file{bytes};
  zlib_filefunc64_def functions = functions_of(file);
  const OpenZip zip(unzOpen2_64("", &functions));
  if (!zip || !has_whole_end(bytes))
    return bad_input(is_archive(bytes) ? "the file is cut: it has no list of members at its end"
                                       : "it is not a zip file");
  unz_global_info64 about{};
  if (unzGetGlobalInfo64(zip.get(), &about) != UNZ_OK) return bad_input("its list of members is damaged");
  if (about.number_entry > max_members)
    return limit_error(
        fmt::format("{} members; expected at most {}", std::uint64_t{about.number_entry}, max_members));
  ArchiveReader reader;
  for (int at = about.number_entry > 0 ? unzGoToFirstFile(zip.get()) : UNZ_END_OF_LIST_OF_FILE;
       at != UNZ_END_OF_LIST_OF_FILE; at = unzGoToNextFile(zip.get())) {
    if (at != UNZ_OK) return bad_input("its list of members is damaged");
    unz_file_info64 info{};
    DRIFTSCOPE_TRY(const std::string name, current_name(zip.get(), info));
    DRIFTSCOPE_TRY(const ArchiveMember member, current_member(zip.get(), file, info, name));
    if (!reader.members_.emplace(name, member).second)
      return bad_input(fmt::format("member '{}' occurs twice", name));
  }
  return reader;
}

Result<const ArchiveMember*> ArchiveReader::find(std::string_view name) const {
  const auto found = members_.find(name);
  if (found == members_.end()) return bad_input(fmt::format("member '{}' is missing", name));
  return &found->second;
}

Result<std::span<const std::byte>> ArchiveReader::stored(std::string_view name) const {
  DRIFTSCOPE_TRY(const ArchiveMember* member, find(name));
  if (member->deflated)
    return unsupported(
        fmt::format("member '{}' is deflated; it must be stored, so that it can be read in place", name));
  if (checksum(member->packed) != member->crc) return damaged(name);
  return member->packed;
}

Result<std::vector<std::byte>> ArchiveReader::read(std::string_view name, std::uint64_t max_bytes) const {
  DRIFTSCOPE_TRY(const ArchiveMember* member, find(name));
  if (member->size > max_bytes)
    return limit_error(
        fmt::format("member '{}' has {} bytes; expected at most {}", name, member->size, max_bytes));
  if (!member->deflated) {
    DRIFTSCOPE_TRY(const auto bytes, stored(name));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  }
  // Deflate packs at most about 1032 times: a short member cannot claim a large size.
  constexpr std::uint64_t highest_ratio = 1040;
  if (member->size / highest_ratio > member->packed.size() || member->size > longest_deflated ||
      member->packed.size() > longest_deflated)
    return damaged(name);
  std::vector<std::byte> bytes(static_cast<std::size_t>(member->size));
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return limit_error("no memory to unpack a member");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(member->packed.data()));
  stream.avail_in = static_cast<uInt>(member->packed.size());
  Bytef none = 0;  // zlib wants a place even where nothing is to be written
  stream.next_out = bytes.empty() ? &none : reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  const int ended = inflate(&stream, Z_FINISH);
  const bool whole = ended == Z_STREAM_END && stream.avail_out == 0 && stream.avail_in == 0;
  inflateEnd(&stream);
  if (!whole || checksum(bytes) != member->crc) return damaged(name);
  return bytes;
}

}  // namespace driftscope
